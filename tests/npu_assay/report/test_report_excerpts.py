"""Excerpts of logs: the right lines, shown and not obeyed, in bounded memory."""

import io
import tracemalloc
from pathlib import Path

import pytest

from npu_assay.report.excerpts import MOST, MOST_AROUND, read_end, read_excerpts

TEN = b"".join(b"line %d\n" % number for number in range(1, 11))


def shown(data: bytes, *lines: int) -> dict[int, list[str]]:
    return {
        line: [f"{one.number}{'>' if one.meant else ':'}{one.shown}" for one in excerpt]
        for line, excerpt in read_excerpts(io.BytesIO(data), lines).items()
    }


@pytest.mark.parametrize(
    ("data", "line", "expected"),
    [
        (TEN, 5, ["3:line 3", "4:line 4", "5>line 5", "6:line 6", "7:line 7"]),
        (TEN, 1, ["1>line 1", "2:line 2", "3:line 3"]),
        (TEN, 10, ["8:line 8", "9:line 9", "10>line 10"]),
        (b"a\nb", 2, ["1:a", "2>b"]),
        (b"a\n\n\n", 2, ["1:a", "2>", "3:"]),
        (b"only", 1, ["1>only"]),
    ],
)
def test_the_line_and_two_on_either_side(data, line, expected):
    assert shown(data, line) == {line: expected}


@pytest.mark.parametrize(("data", "line"), [(TEN, 11), (TEN, 0), (b"", 1), (b"a\n", 2)])
def test_a_line_that_is_not_there_has_no_excerpt(data, line):
    assert shown(data, 1).keys() == {1} & set(range(1, data.count(b"\n") + 1))
    assert shown(data, line) == {}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"plain", "plain"),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"crlf\r", "crlf"),
        (b"10%\r20%", r"10%\r20%"),
        (b"a\tb", "a       b"),
        (b"nul\x00bell\x07", r"nul\x00bell\x07"),
        (b"\xff\xfe", r"\xff\xfe"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}exe".encode(), r"\u202eexe"),
        ("\N{SNOWMAN}".encode(), "\N{SNOWMAN}"),
    ],
)
def test_what_a_line_holds_is_shown_and_not_obeyed(line, expected):
    assert shown(line, 1) == {1: [f"1>{expected}"]}


def test_long_lines_are_cut_and_say_so():
    short, cut = b"x" * MOST_AROUND, b"y" * (MOST + 1234)
    (before, meant, after) = read_excerpts(io.BytesIO(short + b"\n" + cut + b"\n" + cut), [2])[2]
    assert (before.text, before.left_out) == (short.decode(), 0)
    assert (meant.text, meant.left_out) == ("y" * MOST, 1234)
    assert meant.shown.endswith("y… (1,234 more bytes)")
    assert (after.text, after.left_out) == ("y" * MOST_AROUND, MOST + 1234 - MOST_AROUND)


def test_every_line_is_found_wherever_the_chunks_end():
    data = b"".join(b"%d:%s\n" % (number, b"z" * (number * 37 % 9000)) for number in range(1, 200))
    for line, excerpt in read_excerpts(io.BytesIO(data), range(1, 200)).items():
        (meant,) = (one for one in excerpt if one.meant)
        assert meant.number == line
        assert meant.text.startswith(f"{line}:")
        assert [one.number for one in excerpt] == list(range(max(1, line - 2), min(199, line + 2) + 1))


def test_a_line_of_hundreds_of_megabytes_is_not_held(tmp_path: Path):
    path = tmp_path / "big.log"
    with path.open("wb") as file:
        file.write(b"first\n")
        file.truncate(300 << 20)
        file.seek(0, io.SEEK_END)
        file.write(b"\nlast\n")
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            excerpt = read_excerpts(file, [2])[2]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [one.number for one in excerpt] == [1, 2, 3]
    assert excerpt[1].left_out == (300 << 20) - len("first\n") - MOST
    assert peak < 4 << 20


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (TEN, [f"{number}:line {number}" for number in range(3, 11)]),
        (b"a\nb", ["1:a", "2:b"]),
        (b"a\n\n", ["1:a", "2:"]),
        (b"", []),
    ],
)
def test_the_end_is_the_last_lines_with_their_numbers(data, expected):
    assert [f"{one.number}:{one.shown}" for one in read_end(io.BytesIO(data))] == expected


@pytest.mark.parametrize("length", [10, 30_000, 70_000, 200_000])
def test_the_end_of_a_long_log_is_numbered_right(length):
    data = b"".join(b"%d\n" % number for number in range(1, length + 1))
    assert [(str(one.number), one.number) for one in read_end(io.BytesIO(data))] == [
        (one.text, one.number) for one in read_end(io.BytesIO(data))
    ]
    assert read_end(io.BytesIO(data))[-1].number == length
    assert [one.number for one in read_end(io.BytesIO(data + b"x" * 100_000))] == [length + 1]
