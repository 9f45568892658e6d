"""The lines of a log, or those that hold a text, in little memory and about as fast as it can be read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

#: Bytes of a log's line that are kept; no line that a rule reads is nearly as long.
MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Line:
    """What stands before a line feed. A carriage return ends none: progress bars overwrite their line."""

    number: int
    """Counted from 1."""
    data: bytes
    """Without the line feed; of a longer line, as many bytes as are kept."""
    length: int
    """Bytes of the whole line."""

    @property
    def cut(self) -> bool:
        return len(self.data) < self.length


def lines_of(
    chunks: Iterable[bytes], words: tuple[bytes, ...] = (b"",), most: int = MOST_BYTES
) -> Iterator[Line]:
    """The lines with one of the words in them, wherever chunks begin and end; every line without words.

    What stands in other lines is only searched for the words and counted.
    """
    number, open_line = 1, _OpenLine(words, most)
    for chunk in chunks:
        start, end = 0, chunk.find(b"\n")
        if end < 0:
            open_line.add(chunk)
            continue
        if open_line.length:
            open_line.add(chunk[:end])
            if open_line.wanted:
                yield open_line.line(number)
            number, start, open_line = number + 1, end + 1, _OpenLine(words, most)
        stop = chunk.rfind(b"\n") + 1
        counted = start
        for begin, end in _wanted_in(chunk, words, start, stop):
            number, counted = number + chunk.count(b"\n", counted, begin), begin
            yield Line(number, chunk[begin : min(end, begin + most)], end - begin)
        number += chunk.count(b"\n", counted, stop)
        open_line.add(chunk[stop:])
    if open_line.length and open_line.wanted:
        yield open_line.line(number)


def _wanted_in(chunk: bytes, words: tuple[bytes, ...], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Beginning and end of each wanted line of chunk[start:stop], which is whole lines."""
    nearest = {word: chunk.find(word, start, stop) for word in words}
    while start < stop:
        found = [at for at in nearest.values() if 0 <= at < stop]
        if not found:
            return
        at = min(found)
        begin, end = chunk.rfind(b"\n", start, at) + 1 or start, chunk.find(b"\n", at, stop)
        yield begin, end
        start = end + 1
        for word, position in nearest.items():
            if 0 <= position < start:
                nearest[word] = chunk.find(word, start, stop)


@dataclass
class _OpenLine:
    """A line of which the end has not come."""

    words: tuple[bytes, ...]
    most: int
    data: bytearray = field(default_factory=bytearray)
    length: int = 0
    wanted: bool = False
    _tail: bytes = b""
    """A word may begin in it and go on in the next chunk."""

    def add(self, part: bytes) -> None:
        if not part:
            return
        if not self.wanted:
            searched = self._tail + part
            self.wanted = any(word in searched for word in self.words)
            longest = max(map(len, self.words))
            self._tail = searched[1 - longest :] if longest > 1 else b""
        self.data += part[: self.most - len(self.data)]
        self.length += len(part)

    def line(self, number: int) -> Line:
        return Line(number, bytes(self.data), self.length)
