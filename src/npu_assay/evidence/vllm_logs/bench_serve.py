"""What `vllm bench serve` prints, and what it writes with --save-result.

The summary is a block of `label:  value` lines between `= Serving Benchmark Result =` and a line of `=`
(vllm/benchmarks/serve.py, read in 0.18.0; benchmark_serving.py before it). `Failed requests:` is there since
vllm#26478 (2025-10); before, a failed request was only one success fewer (vllm#11167). `Total Token
throughput` has become `Total token throughput`: labels are compared without case. Which other labels there
are depends on options (goodput, speculative decoding, percentiles), so all are kept.

The command ends with exit code 0 where every request has failed (pytorch#172616), and prints 0.00 as
latencies: a summary is a measurement only of its successful requests, and only with as many of them as
prompts. nan and inf are errors: they are no measurement.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row, rows_of
from npu_assay.evidence.vllm_logs.fields import Fields
from npu_assay.evidence.vllm_logs.numbers import count, number
from npu_assay.evidence.vllm_logs.pieces import Piece, UnknownLineError, pieces

SUCCESSFUL = "Successful requests"
FAILED = "Failed requests"
DURATION = "Benchmark duration (s)"

#: The labels that stand for a whole number of requests.
_COUNTS = (SUCCESSFUL.casefold(), FAILED.casefold())
_HEADING = re.compile(r"=+ Serving Benchmark Result =+\s*$")
_END = re.compile(r"={20,}\s*$")
#: The value's column is 41; only a label that does not fit is followed by a single space.
_FIGURE = re.compile(r" {0,2}([A-Z][^:]{0,80}):( +)(\S.*)")
_LABEL_WIDTH = 39
_EXPECTED = (
    f"'=== Serving Benchmark Result ===', then '{SUCCESSFUL}: N' and '{FAILED}: N', each on a line of its own"
)
_SUBJECT = re.compile(rf"Serving Benchmark Result|{SUCCESSFUL}:|{FAILED}:")
#: A key of the JSON.
_LATENCY = re.compile(r"(?:mean|median|std|p[0-9.]+)_[a-z0-9]+_ms")


@dataclass(frozen=True)
class Figure:
    """A line of a summary."""

    line: int
    label: str
    """Without the colon, as printed."""
    value: float


@dataclass(frozen=True)
class ServeSummary:
    """One block of a log."""

    line: int
    """Of the heading."""
    ended: bool
    """Whether the block's last line is there: without it, it may have been cut short."""
    successful: int
    failed: int | None
    """None in versions that do not print it."""
    duration_seconds: float
    figures: tuple[Figure, ...]
    """All lines, the above too, in their order."""

    def figure(self, label: str) -> Figure | None:
        """The line with this label, or None; case does not count."""
        return next((one for one in self.figures if one.label.casefold() == label.casefold()), None)


@dataclass(frozen=True)
class Latency:
    """A latency in milliseconds: `p99_ttft_ms`."""

    name: str
    value: float


@dataclass(frozen=True)
class ServeResult:
    """One object that --save-result writes; --append-result adds a line."""

    line: int
    completed: int
    failed: int | None
    """None in versions that do not write it, and for embeddings."""
    num_prompts: int | None
    duration_seconds: float
    total_input_tokens: int
    total_output_tokens: int | None
    """None for embeddings; so is the next."""
    output_throughput: float | None
    request_throughput: float
    total_token_throughput: float
    latencies: tuple[Latency, ...]

    @property
    def without_success(self) -> int | None:
        """Prompts that no success is counted for, whether they are called failed or not; None: not known."""
        return None if self.num_prompts is None else self.num_prompts - self.completed


def read_serve_summaries(chunks: Iterable[bytes], source: str) -> tuple[ServeSummary, ...]:
    """Every summary of a log, in its order.

    Raises UnknownLineError, and UsageError for a summary without successful requests or duration.
    """
    return tuple(_summaries(chunks, source))


def _summaries(chunks: Iterable[bytes], source: str) -> Iterator[ServeSummary]:
    heading: int | None = None
    figures: dict[str, Figure] = {}
    for piece in pieces(chunks):
        if _HEADING.match(piece.text):
            if heading is not None:
                yield _summary(source, heading, figures, ended=False)
            heading, figures = piece.line, {}
        elif heading is not None and _END.match(piece.text):
            yield _summary(source, heading, figures, ended=True)
            heading = None
        elif heading is not None and (figure := _figure(piece, source)) is not None:
            if figures.setdefault(figure.label.casefold(), figure) is not figure:
                raise UnknownLineError(source, piece, 0, f"'{figure.label}' once in a summary")
        elif (subject := next(piece.matches(_SUBJECT), None)) is not None:
            raise UnknownLineError(source, piece, subject.start(), _EXPECTED)
    if heading is not None:
        yield _summary(source, heading, figures, ended=False)


def _figure(piece: Piece, source: str) -> Figure | None:
    """The figure of a line of a summary, or None for a heading, and what another process wrote between."""
    found = _FIGURE.match(piece.text)
    if found is None or (len(found[2]) < 2 and len(found[1]) < _LABEL_WIDTH):
        return None
    text = found[3].rstrip()
    try:
        value = count(text) if found[1].casefold() in _COUNTS else number(text)
    except ValueError as error:
        raise UnknownLineError(source, piece, 0, "a label and a number") from error
    return Figure(piece.line, found[1], value)


def _summary(source: str, heading: int, figures: dict[str, Figure], *, ended: bool) -> ServeSummary:
    for label in (SUCCESSFUL, DURATION):
        if label.casefold() not in figures:
            raise UsageError(
                f"{source}:{heading}: expected '{label}:' in this summary, which does not have it; "
                "see whether the log was cut short"
            )
    failed = figures.get(FAILED.casefold())
    return ServeSummary(
        line=heading,
        ended=ended,
        successful=int(figures[SUCCESSFUL.casefold()].value),
        failed=None if failed is None else int(failed.value),
        duration_seconds=figures[DURATION.casefold()].value,
        figures=tuple(figures.values()),
    )


def read_serve_results(chunks: Iterable[bytes], source: str) -> Iterator[ServeResult]:
    """Every result of a file of --save-result. Raises UsageError: NaN, a missing field, another type."""
    for row in rows_of(chunks, source):
        yield _result(row, source)


def _result(row: Row, source: str) -> ServeResult:
    fields = Fields(source, row)
    return ServeResult(
        line=row.line,
        completed=fields.count("completed"),
        failed=fields.optional_count("failed"),
        num_prompts=fields.optional_count("num_prompts"),
        duration_seconds=fields.number("duration"),
        total_input_tokens=fields.count("total_input_tokens"),
        total_output_tokens=fields.optional_count("total_output_tokens"),
        output_throughput=fields.optional_number("output_throughput"),
        request_throughput=fields.number("request_throughput"),
        total_token_throughput=fields.number("total_token_throughput"),
        latencies=tuple(Latency(key, fields.number(key)) for key in row.values if _LATENCY.fullmatch(key)),
    )
