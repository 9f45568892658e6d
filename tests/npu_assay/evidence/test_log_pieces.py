"""How logs are cut: line numbers, progress bars, colours, who wrote a line, and a line without an end."""

import io
import re
from collections.abc import Iterator

import pytest

from npu_assay.evidence.bounded import bounded
from npu_assay.evidence.vllm_logs.pieces import BEYOND, WINDOW, Process, UnknownLineError, pieces

SUBJECT = re.compile("value=[0-9]+")


def found(data: bytes) -> list[tuple[int, str]]:
    cut = pieces(bounded(io.BytesIO(data)))
    return [(piece.line, match.group()) for piece in cut for match in piece.matches(SUBJECT)]


def test_every_piece_has_the_line_that_it_stands_on():
    assert [(piece.line, piece.text) for piece in pieces([b"a\n\n", b"b", b"c\r\nd"])] == [
        *((1, "a"), (3, "bc"), (4, "d")),
    ]
    # A progress bar overwrites its line; what follows on the line stands on it too.
    assert [(piece.line, piece.text) for piece in pieces([b"\r 0%\r50%\r100%INFO x\nend"])] == [
        *((1, " 0%"), (1, "50%"), (1, "100%INFO x"), (2, "end")),
    ]


def test_colours_are_gone_also_from_within_a_word():
    assert [
        piece.text for piece in pieces([b"\x1b[1;36m(A pid=1)\x1b[0;0m va\x1b[32mlue=\x1b[0m7\x1b[K\n"])
    ] == ["(A pid=1) value=7"]
    (piece,) = pieces([b"value=\xff\xfe7"])
    assert piece.text == "value=\ufffd\ufffd7"


@pytest.mark.parametrize(
    ("line", "process"),
    [
        ("(EngineCore_DP0 pid=7) INFO value=1", Process("EngineCore_DP0", 7)),
        ("(Worker_TP1 pid=8) value=1", Process("Worker_TP1", 8)),
        ("(VllmWorker rank=1 engine_index=0 pid=9739) value=1", Process("VllmWorker", 9739)),
        ("(RayWorkerWrapper pid=7, ip=10.0.0.1) value=1", Process("RayWorkerWrapper", 7)),
        ("INFO value=1", None),
        ("(see pid=x) value=1", None),
        ("(A pid=1) 50%\r100%|###|(B pid=2) INFO value=1", Process("B", 2)),
        ("(A pid=1) 50%\r100%|###| value=1", Process("A", 1)),
        ("(A pid=1) x\nvalue=1", None),
        ("value=1 (A pid=1)", None),
    ],
)
def test_who_wrote_a_line(line, process):
    (writer,) = [
        piece.process(match.start()) for piece in pieces([line.encode()]) for match in piece.matches(SUBJECT)
    ]
    assert writer == process


@pytest.mark.parametrize(
    "before", [0, 1, WINDOW - 9, WINDOW - 4, WINDOW - 1, WINDOW, WINDOW + 1, 5 * WINDOW - 3]
)
def test_a_value_anywhere_in_a_very_long_line_is_found_once(before):
    assert found(b"value=7\nvalue=8\n") == [(1, "value=7"), (2, "value=8")]
    line = b"x" * before + b" value=7 " + b"y" * (2 * WINDOW)
    assert found(line + b"\nvalue=8") == [(1, "value=7"), (2, "value=8")]
    whole = [match.group() for piece in pieces([line]) for match in piece.matches(SUBJECT)]
    assert whole == ["value=7"]  # in one chunk, too


def test_a_line_without_an_end_is_never_in_memory():
    longest = 0

    def endless() -> Iterator[bytes]:
        for _ in range(2000):
            yield b"x" * WINDOW
        yield b" value=7"

    hits = []
    for piece in pieces(endless()):
        longest = max(longest, len(piece.text))
        hits += [match.group() for match in piece.matches(SUBJECT)]
    assert hits == ["value=7"]
    assert longest <= 2 * WINDOW + BEYOND


@pytest.mark.parametrize("data", [b"", b"x\n" * 300_000, b"x" * 600_000, b"x" * 300_000 + b"\ny"])
def test_a_file_comes_in_chunks_of_bounded_size(data):
    chunks = list(bounded(io.BytesIO(data)))
    assert b"".join(chunks) == data
    assert all(len(chunk) < 100_000 for chunk in chunks)


@pytest.mark.parametrize(
    "data",
    [
        b"x\nvalue=1\ny\n\nvalue=2\n",
        b"x\n\x1b[1mva\x1b[0mlue=1\n",
        b"x\r\nva\rvalue=1\nvalue=2",
        b"(A pid=1) \r50%\rvalue=1\n" * 3,
        b"x" * WINDOW + b"\n" + b"x" * (3 * WINDOW) + b"value=1\nvalue=2\n",
    ],
)
def test_lines_without_the_words_are_counted(data):
    def read(words: tuple[bytes, ...]) -> list[tuple[int, str, Process | None]]:
        return [
            (piece.line, match.group(), piece.process(match.start()))
            for chunks in (bounded(io.BytesIO(data)), [data])
            for piece in pieces(chunks, words)
            for match in piece.matches(SUBJECT)
        ]

    assert read((b"",))
    assert read((b"value=",)) == read((b"",))
    cut = pieces([b"x\n\nx\n", b"value=1\n", b"y\n"], (b"value=",))
    assert [(piece.line, piece.text) for piece in cut] == [(4, "value=1")]


def test_the_error_quotes_the_line_on_one_line():
    (piece,) = pieces([b"\x1b[31mbefore\x1b[0m value=\x00\x07 " + b"z" * 5000])
    message = str(UnknownLineError("a.log", piece, 7, "'value=N'"))
    assert message.startswith("a.log:1: expected 'value=N', found 'before value=\\x00\\x07 zzz")
    assert message.isprintable()
    assert len(message) < 500
