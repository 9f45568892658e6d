"""The header of a makeself archive, which the vendor's run packages are: read, never run.

A shell script with the archive behind it. From 2.1 to 2.5 makeself writes the archive's size in bytes as
`filesizes="..."`, several sizes for several archives, and its title as `label="..."`; since 2.4.3 the number
of the script's lines as `skip="..."`, before as `offset=...head -n N`; and the size unpacked in a line
`echo Uncompressed size: N KB`. Read in makeself 2.1.5, 2.4.0 and 2.4.5; that the vendor's packages have the
same is inferred from what they print ("Verifying archive integrity", "Uncompressing ASCEND_RUN_PACKAGE").
"""

import re
from dataclasses import dataclass
from pathlib import Path

#: The header has 20 to 40 KB; one with a licence's text in it may have more.
_HEADER = 1 << 20

_MADE_BY = b"generated using Makeself"
_SIZES = re.compile(rb'^filesizes="([0-9]+(?: [0-9]+)*)"\r?$', re.MULTILINE)
_LABEL = re.compile(rb'^label="([^"\n]*)"\r?$', re.MULTILINE)
_LINES = re.compile(rb'^skip="([0-9]+)"\r?$|offset=`head -n ([0-9]+) ', re.MULTILINE)
_UNPACKED = re.compile(rb"echo Uncompressed size: ([0-9]+) KB")


class NotMakeselfError(ValueError):
    """Why a file is no makeself archive; the message goes after its name."""


@dataclass(frozen=True)
class MakeselfHeader:
    """What the script says of the archive behind it."""

    label: str
    size: int
    """Of the whole file, in bytes."""
    unpacked: int | None
    """Of what it unpacks, in bytes; None where the script does not say."""


def parse_makeself(head: bytes) -> MakeselfHeader:
    """Read the header, of which `head` is the beginning of the file. Raises NotMakeselfError."""
    if not head.startswith(b"#!"):
        begins = "nothing" if not head else repr(head[:24].decode("ascii", "backslashreplace"))
        raise NotMakeselfError(f"no run package: it begins with {begins}, not with #!")
    if _MADE_BY not in head[:1024]:
        raise NotMakeselfError("no run package: its first lines do not say that Makeself made it")
    sizes, lines = _SIZES.search(head), _LINES.search(head)
    if sizes is None or lines is None:
        raise NotMakeselfError("its Makeself header has no filesizes, or neither skip nor offset")
    offset = _offset(head, int(lines[1] or lines[2]))
    label, unpacked = _LABEL.search(head), _UNPACKED.search(head)
    return MakeselfHeader(
        label=label[1].decode(errors="replace") if label else "",
        size=offset + sum(map(int, sizes[1].split())),
        unpacked=int(unpacked[1]) << 10 if unpacked else None,
    )


def read_makeself(path: Path) -> MakeselfHeader:
    """Read the header of a file. Raises NotMakeselfError and OSError."""
    with path.open("rb") as file:
        return parse_makeself(file.read(_HEADER))


def _offset(head: bytes, lines: int) -> int:
    """Where the archive begins: after that many lines."""
    offset = 0
    for _ in range(lines):
        offset = head.find(b"\n", offset) + 1
        if offset == 0:
            raise NotMakeselfError(f"cut short: it ends inside of the {lines} lines of its Makeself header")
    return offset
