"""What LMCache says that it stored and retrieved, in tokens.

Forms, with the versions that print them; they stand in lmcache/v1/cache_engine.py unless another file is
named:

- `Stored 256 out of total 300 tokens. size: ...`: from LMCache#972 (2025-07), without a request
- `[req_id=R] Stored 256 out of total 300 tokens. size: ...`: 0.4.4 (read)
- `[req_id=R kv_group=G] Stored 256 out of total 300 tokens. size: ...`: after 0.4.4
- `Retrieved 128 out of total 256 out of total 512 tokens. size: ...`: before LMCache#1623 (2025-09)
- `Retrieved 128 out of 256 required tokens (from 512 total tokens). size: ...`: after LMCache#1623; 0.4.4
  (read) with `[req_id=R]` before it
- `[req_id=R] Retrieved 128 out of 256 out of total 512 tokens`: 0.4.4 (read), layer by layer
- `Retrieved 128 tokens`: layer by layer, vllm_v1_adapter.py of vLLM 0.18.0 and of LMCache 0.4.4 (both read)
- `Stored 256 tokens in 0.848 seconds`, `Retrieved 256 tokens in 0.013 seconds`: 0.4.4 (read), multiprocess
  mode, lmcache/v1/multiprocess/server.py

`Storing KV cache for ...` and `Reqid: ..., LMCache hit tokens: ...` are intentions, written before anything
is moved, and are not read. A request has a line a rank and may have several more (chunked prefill; a part at
a time): all are kept. In a layer-by-layer retrieval two lines speak of one transfer.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from npu_assay.evidence.vllm_logs.numbers import count
from npu_assay.evidence.vllm_logs.pieces import Piece, Process, UnknownLineError, pieces

_EXPECTED = "'Stored N out of total N tokens', 'Retrieved N out of N required tokens' or 'Retrieved N tokens'"
#: The subject has one of these.
_WORDS = (b"Stored", b"Retrieved")
_SUBJECT = re.compile(
    r"(?<=LMCache INFO: )(?:Stored|Retrieved)\b|\b(?:Stored|Retrieved)\b(?=.{0,120}\btokens?\b)"
)
_COUNTS = {"tokens": r"(?P<tokens>[0-9]+)", "of": r"(?P<of>[0-9]+)", "total": r"(?P<total>[0-9]+)"}
_FORMS = tuple(
    re.compile(form.format(**_COUNTS) + r"(?=[.\s]|$)")
    for form in (
        r"(?P<way>Stored) {tokens} out of total {of} tokens",
        r"(?P<way>Retrieved) {tokens} out of {of} required tokens \(from {total} total tokens\)",
        r"(?P<way>Retrieved) {tokens} out of (?:total )?{of} out of total {total} tokens",
        r"(?P<way>Stored|Retrieved) {tokens} tokens(?= in [0-9.]+ seconds|\s*$| \()",
    )
)
_REQUEST = re.compile(r"\[req_id=([^\]\s]{1,200})(?: kv_group=[^\]]{0,60})?\] $")


class Way(StrEnum):
    STORED = "Stored"
    RETRIEVED = "Retrieved"


@dataclass(frozen=True)
class Transfer:
    """One line about tokens whose KV entries went into LMCache or came out of it."""

    line: int
    process: Process | None
    request: str | None
    """None where the version does not say it."""
    way: Way
    tokens: int
    of: int | None
    """How many there were to store, or were asked for; None where the line does not say it."""
    total: int | None = None
    """Of the request; None where the line does not say it."""

    @property
    def partial(self) -> bool | None:
        """Whether fewer were moved than there were; None where the line does not say it."""
        return None if self.of is None else self.tokens < self.of


def read_lmcache(chunks: Iterable[bytes], source: str) -> tuple[Transfer, ...]:
    """Every transfer of a log, in its order. Raises UnknownLineError."""
    return tuple(
        _transfer(piece, subject.start(), source)
        for piece in pieces(chunks, _WORDS)
        for subject in piece.matches(_SUBJECT)
    )


def _transfer(piece: Piece, at: int, source: str) -> Transfer:
    for form in _FORMS:
        if (found := form.match(piece.text, at)) is None:
            continue
        values = found.groupdict()
        request = _REQUEST.search(piece.text[max(0, at - 280) : at])
        try:
            return Transfer(
                line=piece.line,
                process=piece.process(at),
                request=None if request is None else request[1],
                way=Way(values["way"]),
                tokens=count(values["tokens"]),
                of=_optional(values.get("of")),
                total=_optional(values.get("total")),
            )
        except ValueError:
            break
    raise UnknownLineError(source, piece, at, _EXPECTED)


def _optional(text: str | None) -> int | None:
    return None if text is None else count(text)
