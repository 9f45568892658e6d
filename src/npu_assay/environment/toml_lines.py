"""On which line of a TOML file a key stands, for errors: tomllib tells values, not places."""

import re
from collections.abc import Sequence

_TABLE = re.compile(r"^\s*\[(?P<keys>[^\[\]]+)\]")
_KEY = re.compile(r"^\s*(?P<key>[A-Za-z0-9_\-.\"']+)\s*=")


def line_of(text: str, keys: Sequence[str]) -> int:
    """The line, from 1, of the longest prefix of `keys` that stands in the text; 1 where none does.

    A key inside an inline table is on the line of that table. Text inside a multi-line string that looks like
    a key can mislead it, which costs a reader of an error a look around.
    """
    best, best_line, table = 0, 1, ()  # type: int, int, tuple[str, ...]
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = path = tuple(_keys(header["keys"]))
        elif key := _KEY.match(line):
            path = (*table, *_keys(key["key"]))
        else:
            continue
        if len(path) <= len(keys) and tuple(keys[: len(path)]) == path and len(path) > best:
            best, best_line = len(path), number
    return best_line


def _keys(dotted: str) -> list[str]:
    return [key.strip().strip("\"'") for key in dotted.split(".")]
