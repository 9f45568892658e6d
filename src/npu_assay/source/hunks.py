"""The hunks of a patch, as `git diff` and `git format-patch` write them."""

import re
from dataclasses import dataclass

_HUNK = re.compile(rb"@@ -(?P<old>\d+)(?:,(?P<old_lines>\d+))? \+\d+(?:,(?P<new_lines>\d+))? @@")


@dataclass(frozen=True)
class Hunk:
    """One hunk."""

    file: str
    """Of the tree, before the patch."""
    number: int
    """Counted from 1 within the file's part of the patch."""
    old_line: int
    header: str
    """Its @@ line."""


def hunks_of(patch: bytes, strip: int = 1) -> list[Hunk]:
    """All hunks. What is no patch (a mail's words, a signature) is passed over.

    `strip` is how many leading folders of names are none (patch's -p).
    """
    found: list[Hunk] = []
    file, number, old_left, new_left = "", 0, 0, 0
    for line in patch.split(b"\n"):
        if old_left > 0 or new_left > 0:
            kind = line[:1]
            old_left -= kind in (b" ", b"-", b"", b"\r")  # some tools cut a context line that is empty
            new_left -= kind in (b" ", b"+", b"", b"\r")
        elif line.startswith(b"--- "):
            file, number = _name(line, strip), 0
        elif match := _HUNK.match(line):
            number += 1
            found.append(Hunk(file, number, int(match["old"]), line.rstrip(b"\r").decode(errors="replace")))
            old_left, new_left = (int(match[part] or 1) for part in ("old_lines", "new_lines"))
    return found


def _name(line: bytes, strip: int) -> str:
    name = line.removeprefix(b"--- ").rstrip(b"\r").partition(b"\t")[0].decode(errors="surrogateescape")
    if name.startswith('"') and name.endswith('"'):  # C-style, for names with unusual bytes
        name = name[1:-1].encode("latin-1", "replace").decode("unicode_escape")
    return "/".join(name.split("/")[strip:]) if name != "/dev/null" else name
