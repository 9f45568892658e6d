"""SHA256SUMS as GNU coreutils writes and reads it, so that `sha256sum -c SHA256SUMS` is a second opinion.

A line is 64 hex digits, a space, a space (text) or `*` (binary), and the name. A name that holds a backslash,
a newline or a carriage return is written with `\\\\`, `\\n`, `\\r`, and its line begins with a backslash
(coreutils manual, "md5sum invocation"; carriage returns since coreutils 9.0).

Stricter than GNU: what sha256sum would skip with a warning is an error here, and so is a carriage return
at a line's end, which coreutils 9.1 takes off and older ones take for a part of the name.
"""

import os
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from npu_assay.errors import UsageError

_LINE = re.compile(rb"(?P<escaped>\\?)(?P<sha256>[0-9a-fA-F]{64}) [ *](?P<name>.+)", re.DOTALL)
_ESCAPES = {b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r"}
_UNESCAPES = {escape: char for char, escape in _ESCAPES.items()}
#: A file of the name that sha256sum takes for its standard input, and how it is written instead.
_STDIN, _FILE_LIKE_STDIN = b"-", b"./-"
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def render_sums(sums: Mapping[str, str]) -> bytes:
    """The bytes of a SHA256SUMS: name -> hex digest, in the order of the names' bytes, lines end in LF."""
    lines = []
    for raw_name, sha256 in sorted((os.fsencode(name), sha256) for name, sha256 in sums.items()):
        name = re.sub(rb"[\\\n\r]", lambda char: _ESCAPES[char.group()], raw_name)
        mark = b"\\" if name != raw_name else b""
        name = _FILE_LIKE_STDIN if name == _STDIN else name
        lines.append(mark + sha256.encode() + b"  " + name + b"\n")
    return b"".join(lines)


def parse_sums(data: bytes, source: str) -> dict[str, str]:
    """Read a SHA256SUMS into name -> hex digest.

    `source` names the file in messages. Raises UsageError, with the line's number, for a carriage return at a
    line's end, a byte-order mark, a malformed line, a name twice; and for names that leave the folder
    (absolute, or with `..`) or are written in a roundabout way.
    """
    if data.startswith(_BYTE_ORDER_MARKS):
        raise UsageError(f"{source}: begins with a byte-order mark; sha256sum writes none")
    sums: dict[str, str] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line or line.startswith(b"#"):  # GNU skips both without a word
            continue
        name, sha256 = _parse_line(line, f"{source}:{number}")
        if name in sums:
            raise UsageError(f"{source}:{number}: {name!r} stands here twice; each file has one line")
        sums[name] = sha256
    return sums


def _parse_line(line: bytes, where: str) -> tuple[str, str]:
    if line.endswith(b"\r"):
        raise UsageError(f"{where}: the line ends in a carriage return; write SHA256SUMS with LF only")
    match = _LINE.fullmatch(line)
    if match is None:
        raise UsageError(f"{where}: expected 64 hex digits, two spaces and a name, found {line[:80]!r}")
    raw_name = match["name"]
    if match["escaped"]:
        raw_name = _unescape(raw_name, where)
    name = os.fsdecode(_STDIN if raw_name == _FILE_LIKE_STDIN else raw_name)
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name:
        raise UsageError(f"{where}: {name!r} must be a plain path inside the folder of SHA256SUMS")
    return name, match["sha256"].decode().lower()


def _unescape(name: bytes, where: str) -> bytes:
    def char_of(escape: re.Match[bytes]) -> bytes:
        char = _UNESCAPES.get(escape.group())
        if char is None:
            raise UsageError(f"{where}: unknown escape {escape.group()!r}; GNU writes \\\\, \\n and \\r only")
        return char

    return re.sub(rb"\\.?", char_of, name, flags=re.DOTALL)
