"""A log cut into what stands on a line of its own, in bounded memory."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from npu_assay.errors import UsageError
from npu_assay.evidence.terminal import without_colours
from npu_assay.printable import printable

#: Bytes of a line that are looked at together; of a longer one, as many windows as it takes.
WINDOW = 1 << 14
#: Bytes after a window that are looked at with it: more than any message that a reader knows.
BEYOND = 1 << 10

#: Characters that an error quotes, before and from where the subject begins.
_QUOTED_BEFORE, _QUOTED = 80, 200

_END = re.compile(rb"[\r\n]")

#: `(EngineCore_DP0 pid=7)`, `(Worker_TP0 pid=7)` (vllm/utils/system_utils.py, decorate_logs, 0.18.0),
#: `(VllmWorker rank=0 pid=7)` (0.8), `(RayWorkerWrapper pid=7, ip=10.0.0.1)` (Ray's).
_PROCESS = re.compile(
    r"\(([A-Za-z_]\w{0,60})(?: [a-z_]{1,20}=[0-9]{1,9}){0,4} pid=([0-9]{1,9})(?:, [^()]{1,60})?\)"
)


@dataclass(frozen=True)
class Process:
    """Who wrote a line."""

    name: str
    """`EngineCore_DP0`, `Worker_TP1`: with its ranks, where vLLM says them."""
    pid: int


@dataclass(frozen=True)
class Piece:
    """A line without colours, or a part of one that a carriage return ends."""

    line: int
    text: str
    begun_by: Process | None
    """Whose prefix the line begins with."""
    end: int
    """Where the next window of a very long line begins; what begins there is found in that one."""

    def matches(self, subject: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Where the subject is, each place once in all windows."""
        for found in subject.finditer(self.text):
            if found.start() >= self.end:
                return
            yield found

    def process(self, position: int) -> Process | None:
        """Who wrote what stands at the position.

        The nearest prefix before it: another process's message may follow a progress bar on its line.
        """
        nearest = self.begun_by
        for found in _PROCESS.finditer(self.text, 0, position):
            nearest = _process(found)
        return nearest


class UnknownLineError(UsageError):
    """A line that is recognisably a reader's subject, in a form that the reader does not know; quotes it."""

    def __init__(self, source: str, piece: Piece, position: int, expected: str) -> None:
        start = max(0, position - _QUOTED_BEFORE)
        quoted = printable(" ".join(piece.text[start : position + _QUOTED].split()))
        super().__init__(
            f"{source}:{piece.line}: expected {expected}, found '{quoted}'; "
            "see which program and version wrote it: this reader does not know its form"
        )


def pieces(chunks: Iterable[bytes], words: tuple[bytes, ...] = (b"",)) -> Iterator[Piece]:
    """Everything that stands between line ends; empty pieces are left out.

    Whole lines with none of the words may be left out too, unless a colour could stand inside of a word: most
    of a log of hundreds of megabytes is then only counted.

    Progress bars (tqdm) overwrite their line with a carriage return, and vLLM's own formatter ends the lines
    of a message of several with CR LF (vllm/logging_utils/formatter.py, 0.18.0): both end a piece, and only
    a line feed counts as a line.
    """
    line, held, begun_by, begun = 1, b"", None, False
    for chunk in chunks:
        if not held and not begun and chunk.endswith(b"\n") and _has_none(chunk, words):
            line += chunk.count(b"\n")
            continue
        for at in range(0, len(chunk), WINDOW):
            part, start = chunk[at : at + WINDOW], 0
            for end in _END.finditer(part):
                held += part[start : end.start()]
                start = end.end()
                if held:
                    piece = _piece(line, held, b"", begun_by, begun)
                    begun_by, begun, held = piece.begun_by, True, b""
                    yield piece
                if end.group() == b"\n":
                    line, begun_by, begun = line + 1, None, False
            held += part[start:]
            if len(held) > WINDOW + BEYOND:
                piece = _piece(line, held[:WINDOW], held[WINDOW : WINDOW + BEYOND], begun_by, begun)
                begun_by, begun, held = piece.begun_by, True, held[WINDOW:]
                yield piece
    if held:
        yield _piece(line, held, b"", begun_by, begun)


def _has_none(chunk: bytes, words: tuple[bytes, ...]) -> bool:
    return b"\x1b" not in chunk and not any(word in chunk for word in words)


def _piece(line: int, window: bytes, beyond: bytes, begun_by: Process | None, begun: bool) -> Piece:
    text = _text(window)
    if not begun and (found := _PROCESS.match(text)) is not None:
        begun_by = _process(found)
    return Piece(line, text + _text(beyond), begun_by, len(text))


def _text(data: bytes) -> str:
    return without_colours(data.decode(errors="replace"))


def _process(found: re.Match[str]) -> Process:
    return Process(found[1], int(found[2]))
