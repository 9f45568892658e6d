"""Lines of a log: each with its number, wherever chunks are cut, and never more than a part of a long one."""

import io
import re

import pytest

from npu_assay.evidence.bounded import CHUNK, REST_OF_LINE, bounded
from npu_assay.evidence.lines import MOST_BYTES, Line, lines_of

LOG = b"first red\n\nblue\r 50% blue and red\nred red\ngreen\nre\nd\nlast blue"


def by_hand(data: bytes, *words: bytes) -> list[Line]:
    lines = data.split(b"\n") if data else []
    ended = lines[:-1] + ([lines[-1]] if lines and lines[-1] else [])
    return [
        Line(number, line[:MOST_BYTES], len(line))
        for number, line in enumerate(ended, start=1)
        if not words or any(word in line for word in words)
    ]


@pytest.mark.parametrize(
    "words", [(), (b"red",), (b"blue", b"red"), (b"absent", b"green"), (b"absent",), (b"d",), (b"last blue",)]
)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 1000])
@pytest.mark.parametrize("log", [LOG, LOG + b"\n", LOG + b"\n\n", b"\n", b"", b"red", b"\nred\n"])
def test_wherever_chunks_end_the_lines_are_the_same(log: bytes, size: int, words: tuple[bytes, ...]) -> None:
    chunks = [log[at : at + size] for at in range(0, len(log), size)]
    assert list(lines_of(chunks, words or (b"",))) == by_hand(log, *words)


@pytest.mark.parametrize("before", [0, CHUNK - 3, CHUNK + REST_OF_LINE - 3, 3 * CHUNK])
def test_of_a_long_line_the_beginning_is_kept_and_all_of_it_is_searched(before: int) -> None:
    data = b"short\n" + b"x" * before + b"red" + b"y" * MOST_BYTES + b"\nred\n"
    long, short = lines_of(bounded(io.BytesIO(data)), (b"red",))
    assert (long.number, long.length, long.cut) == (2, before + 3 + MOST_BYTES, True)
    assert long.data == data[6 : 6 + MOST_BYTES]
    assert short == Line(3, b"red", 3)
    assert list(lines_of(bounded(io.BytesIO(data)), (b"blue",))) == []


def test_chunks_of_a_file_are_its_bytes_and_end_with_its_lines() -> None:
    data = b"".join(b"line %d\n" % number for number in range(30_000))
    chunks = list(bounded(io.BytesIO(data)))
    assert b"".join(chunks) == data
    assert len(chunks) > 2
    assert all(re.search(rb"\n\Z", chunk) and len(chunk) <= CHUNK + REST_OF_LINE for chunk in chunks)
