"""A few lines of a log around the one that a finding is about, in bounded memory, whatever the log holds."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from npu_assay.evidence.terminal import without_colours
from npu_assay.report.legible import count, visible

#: Lines before and after.
AROUND = 2
#: Bytes that are kept of the line itself, and of one of its neighbours.
MOST, MOST_AROUND = 2000, 300
#: Lines of a log's end, and the bytes in which they are looked for.
ENDING, _TAIL = 8, 1 << 15
_CHUNK = 1 << 16


@dataclass(frozen=True)
class ExcerptLine:
    """A line of a log, without colours and with escapes for what does not show."""

    number: int
    """Counted from 1."""
    text: str
    left_out: int
    """Bytes at its end that are not shown."""
    meant: bool
    """Whether it is the one that the finding is about."""

    @property
    def shown(self) -> str:
        """The text, and how much of it is not there."""
        return f"{self.text}… ({count(self.left_out)} more bytes)" if self.left_out else self.text


Excerpt = tuple[ExcerptLine, ...]


@dataclass
class _Held:
    """The beginning of a line, and how long all of it is."""

    data: bytearray
    length: int = 0


def read_excerpts(file: BinaryIO, lines: Collection[int]) -> dict[int, Excerpt]:
    """The excerpt of each of the lines; of a line that the file does not have, there is none.

    Only a line feed ends a line, as for the rules.
    """
    wanted = sorted({near for line in lines for near in _around(line)})
    held = dict(_wanted(file, wanted))
    return {
        line: tuple(_line(near, held[near], near == line) for near in _around(line) if near in held)
        for line in sorted(set(lines))
        if line in held
    }


def read_end(file: BinaryIO) -> Excerpt:
    """The last lines, for what is wrong with a log as a whole; no line where it is empty."""
    ends, length, tail = 0, 0, b""
    while chunk := file.read(_CHUNK):
        ends, length, tail = ends + chunk.count(b"\n"), length + len(chunk), (tail + chunk)[-_TAIL:]
    lines = tail.split(b"\n")
    if not lines[-1]:
        lines.pop()
        ends -= 1
    if length > _TAIL and len(lines) > 1:  # the first one began before
        del lines[0]
    first = ends + 2 - len(lines)
    numbered = list(enumerate(lines, start=first))[-ENDING:]
    return tuple(_line(number, _Held(bytearray(line), len(line)), False) for number, line in numbered)


def _around(line: int) -> range:
    return range(max(1, line - AROUND), line + AROUND + 1)


def _wanted(file: BinaryIO, wanted: Sequence[int]) -> Iterator[tuple[int, _Held]]:
    """The lines that are wanted, sorted; of all others the line feeds are only counted."""
    number, held = 1, _Held(bytearray())
    while wanted and number <= wanted[-1] and (chunk := file.read(_CHUNK)):
        ends = chunk.count(b"\n")
        if bisect_left(wanted, number) == bisect_left(wanted, number + ends + 1):
            number += ends
            continue
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            if _is_in(wanted, number):
                yield number, _longer(held, part)
            number, held = number + 1, _Held(bytearray())
        _longer(held, rest)
    if held.length and _is_in(wanted, number):  # the last line has no line feed
        yield number, held


def _is_in(wanted: Sequence[int], number: int) -> bool:
    at = bisect_left(wanted, number)
    return at < len(wanted) and wanted[at] == number


def _longer(held: _Held, part: bytes) -> _Held:
    held.data += part[: max(0, MOST - len(held.data))]
    held.length += len(part)
    return held


def _line(number: int, held: _Held, meant: bool) -> ExcerptLine:
    most = MOST if meant else MOST_AROUND
    text = without_colours(held.data[:most].decode(errors="backslashreplace")).expandtabs()
    return ExcerptLine(number, visible(text.rstrip(" \r")[:most]), max(0, held.length - most), meant)
