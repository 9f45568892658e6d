"""What `vllm bench throughput` prints, and what it writes with --output-json.

- `Throughput: 5.02 requests/s, 1927.04 total tokens/s, 642.35 output tokens/s`, then `Total num prompt
  tokens:  N` and `Total num output tokens:  N`: vllm/benchmarks/throughput.py, 0.18.0 (read)
- `Throughput: 5.02 requests/s, 1927.04 tokens/s`: benchmark_throughput.py, up to 0.6

The numbers of requests and tokens are those asked for, not those that came: with --output-len every request
counts in full, and the line has no failures to tell of. The JSON is one object over several lines.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row, parse_object
from npu_assay.evidence.vllm_logs.fields import Fields
from npu_assay.evidence.vllm_logs.numbers import COUNT, NUMBER, count, number
from npu_assay.evidence.vllm_logs.pieces import Piece, UnknownLineError, pieces

_EXPECTED = (
    "'Throughput: N requests/s, N total tokens/s, N output tokens/s', then once each "
    "'Total num prompt tokens: N' and 'Total num output tokens: N'"
)
#: The subject has one of these.
_WORDS = (b"Throughput:", b"Total num ")
_SUBJECT = re.compile(r"\bThroughput:|Total num (?:prompt|output) tokens")
_THROUGHPUT = re.compile(
    rf"Throughput: ({NUMBER}) requests/s, (?:({NUMBER}) tokens/s"
    rf"|({NUMBER}) total tokens/s, ({NUMBER}) output tokens/s)\s*$"
)
_TOKENS = re.compile(rf"Total num (prompt|output) tokens: +({COUNT})\s*$")

#: Bytes of the JSON file, which has five numbers.
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Tokens:
    """A line with a number of tokens."""

    line: int
    count: int


@dataclass(frozen=True)
class ThroughputSummary:
    """One run's lines."""

    line: int
    requests_per_second: float
    tokens_per_second: float
    """Of prompts and outputs."""
    output_tokens_per_second: float | None
    """None in versions that do not print it; so are the next two."""
    prompt_tokens: Tokens | None = None
    output_tokens: Tokens | None = None


@dataclass(frozen=True)
class ThroughputResult:
    """The file of --output-json."""

    elapsed_seconds: float
    num_requests: int
    total_num_tokens: int
    requests_per_second: float
    tokens_per_second: float


def read_throughput_summaries(chunks: Iterable[bytes], source: str) -> tuple[ThroughputSummary, ...]:
    """Every summary of a log, in its order. Raises UnknownLineError."""
    summaries: list[ThroughputSummary] = []
    for piece in pieces(chunks, _WORDS):
        for subject in piece.matches(_SUBJECT):
            try:
                known = _read(piece, subject.start(), summaries)
            except ValueError:
                known = False
            if not known:
                raise UnknownLineError(source, piece, subject.start(), _EXPECTED)
    return tuple(summaries)


def _read(piece: Piece, at: int, summaries: list[ThroughputSummary]) -> bool:
    """Put the line into the summaries; False for an unknown form. Raises ValueError for what is no number."""
    if found := _THROUGHPUT.match(piece.text, at):
        requests, alone, total, output = found.groups()
        output_rate = None if output is None else number(output)
        summaries.append(ThroughputSummary(piece.line, number(requests), number(alone or total), output_rate))
        return True
    found = _TOKENS.match(piece.text, at)
    if found is None or not summaries:
        return False
    tokens, last = Tokens(piece.line, count(found[2])), summaries[-1]
    if found[1] == "prompt" and last.prompt_tokens is None:
        summaries[-1] = replace(last, prompt_tokens=tokens)
    elif found[1] == "output" and last.output_tokens is None:
        summaries[-1] = replace(last, output_tokens=tokens)
    else:
        return False
    return True


def read_throughput_result(chunks: Iterable[bytes], source: str) -> ThroughputResult:
    """The file of --output-json. Raises UsageError: NaN, a missing field, another type."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > _MOST_BYTES:
            raise UsageError(f"{source}: expected a JSON object of at most {_MOST_BYTES} bytes")
    fields = Fields(source, Row(1, parse_object(bytes(data), source)))
    return ThroughputResult(
        elapsed_seconds=fields.number("elapsed_time"),
        num_requests=fields.count("num_requests"),
        total_num_tokens=fields.count("total_num_tokens"),
        requests_per_second=fields.number("requests_per_second"),
        tokens_per_second=fields.number("tokens_per_second"),
    )
