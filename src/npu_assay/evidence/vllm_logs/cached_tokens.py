"""How many prompt tokens of a response came from the cache: `usage` of responses, as JSON Lines.

- `prompt_tokens_details.cached_tokens` beside `prompt_tokens`: chat and text completions, vLLM 0.18.0,
  entrypoints/openai/engine/protocol.py
- `input_tokens_details.cached_tokens` beside `input_tokens`: the Responses API, vLLM 0.18.0,
  entrypoints/openai/responses/protocol.py

Null is not 0. vLLM 0.18.0 writes details only with --enable-prompt-tokens-details, and even then not where
the count is 0 (`if ... and num_cached_tokens`, chat_completion/serving.py and completion/serving.py): from
null alone nobody can tell "not asked for" from "none" (vllm-ascend#9030 is this pair of versions, with a hit
rate of 99 % in the log). Behind a disaggregated prefill the count is always one less than the prompt
(vllm#43370); that is read as it stands.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row, rows_of
from npu_assay.evidence.vllm_logs.fields import Fields

#: Bytes of the longest response.
_MOST_BYTES = 16 << 20


class NotMeasured(StrEnum):
    """Why there is no number."""

    NO_DETAILS = "the usage has no details"
    NULL_DETAILS = "the details are null"
    NO_COUNT = "the details have no cached_tokens"
    NULL_COUNT = "cached_tokens is null"


@dataclass(frozen=True)
class CachedTokens:
    """Of one response."""

    line: int
    prompt_tokens: int
    cached: int | NotMeasured


def read_cached_tokens(chunks: Iterable[bytes], source: str) -> Iterator[CachedTokens]:
    """One entry a row, in order. Raises UsageError: a row without usage, a value of another type."""
    for row in rows_of(chunks, source, _MOST_BYTES):
        yield _of_row(row, source)


def _of_row(row: Row, source: str) -> CachedTokens:
    usage = Fields(source, row).nested("usage")
    kind = "input" if usage.has("input_tokens") and not usage.has("prompt_tokens") else "prompt"
    prompt = usage.count(f"{kind}_tokens")
    cached = _cached(usage, f"{kind}_tokens_details")
    if isinstance(cached, int) and cached > prompt:
        raise UsageError(
            f"{source}:{row.line}: expected at most the {prompt} tokens of the prompt to be cached, "
            f"found {cached}"
        )
    return CachedTokens(row.line, prompt, cached)


def _cached(usage: Fields, details: str) -> int | NotMeasured:
    if not usage.has(details):
        return NotMeasured.NO_DETAILS
    if usage.is_null(details):
        return NotMeasured.NULL_DETAILS
    found = usage.nested(details)
    if not found.has("cached_tokens"):
        return NotMeasured.NO_COUNT
    return NotMeasured.NULL_COUNT if found.is_null("cached_tokens") else found.count("cached_tokens")
