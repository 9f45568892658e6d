"""What vLLM says when its prefix cache is to be emptied.

Forms, both in v1/core/block_pool.py, reset_prefix_cache, of 0.18.0: `Successfully reset prefix cache`, and
`Failed to reset prefix cache because some blocks (2) are not freed yet`, after which it is as it was.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from npu_assay.evidence.vllm_logs.pieces import Piece, Process, UnknownLineError, pieces

_EXPECTED = "'Successfully reset prefix cache' or 'Failed to reset prefix cache because ...'"
_WORDS = (b"reset prefix cache",)
_SUBJECT = re.compile(r"[A-Z][a-z]{2,12}(?: to)? reset prefix cache")
_DONE = re.compile(r"Successfully reset prefix cache\s*$")
_REFUSED = re.compile(r"Failed to reset prefix cache because ")


@dataclass(frozen=True)
class Reset:
    """One attempt of an engine."""

    line: int
    process: Process | None
    done: bool


def read_prefix_cache_resets(chunks: Iterable[bytes], source: str) -> tuple[Reset, ...]:
    """Every attempt of a log, in its order. Raises UnknownLineError."""
    return tuple(
        _reset(piece, subject.start(), source)
        for piece in pieces(chunks, _WORDS)
        for subject in piece.matches(_SUBJECT)
    )


def _reset(piece: Piece, at: int, source: str) -> Reset:
    done = _DONE.match(piece.text, at) is not None
    if not done and _REFUSED.match(piece.text, at) is None:
        raise UnknownLineError(source, piece, at, _EXPECTED)
    return Reset(piece.line, piece.process(at), done)
