"""A comparison as sections of a title, remarks and a table: what both forms of output print."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.comparison.comparison import Comparison, Side
from npu_assay.comparison.noise import FEWEST_RUNS, Judgement, Spread
from npu_assay.comparison.performance import MetricComparison
from npu_assay.comparison.stages import StageComparison
from npu_assay.printable import printable

#: Tests and prompts that are named; JSON has them all.
_NAMED = 5
_GIB = 1 << 30
#: Characters of a value; JSON has it whole.
_WIDEST = 60
#: Of a file or a commit; JSON has them whole.
_HASH = re.compile(r"\b[0-9a-f]{40,64}\b")


@dataclass(frozen=True)
class Section:
    """A part of the output. Cells are plain text on one line."""

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()


def sections(comparison: Comparison) -> tuple[Section, ...]:
    """All of it, in the order in which it is read."""
    return (
        _sides(comparison),
        _environment(comparison),
        _stages(comparison),
        _performance(comparison),
        _tokens(comparison),
        Section("Conclusion", remarks=(*map(printable, comparison.regressions), comparison.conclusion)),
    )


def _sides(comparison: Comparison) -> Section:
    def row(name: str, side: Side) -> tuple[str, ...]:
        kind = "EMULATED" if side.emulated else "hardware"
        started = f"{side.started:%Y-%m-%d %H:%M:%S}Z"
        return name, side.pipeline, printable(side.environment), kind, started, side.sums_sha256[:16]

    header = ("", "pipeline", "environment", "device", "started", "SHA256SUMS")
    emulated = comparison.a.emulated or comparison.b.emulated
    return Section(
        "Compared",
        header,
        (row("A", comparison.a), row("B", comparison.b)),
        ("what is EMULATED is no evidence about an NPU",) if emulated else (),
    )


def _environment(comparison: Comparison) -> Section:
    found = comparison.environment
    rows = tuple(
        (str(one.group), printable(one.name), _value(one.a), _value(one.b)) for one in found.differences
    )
    remarks = [printable(f"{found.same} recorded facts are the same; {found.attribution}")]
    remarks += [f"what {stage} found out is known of one side only" for stage in found.unknown]
    return Section("Environment", ("what", "", "A", "B") if rows else (), rows, tuple(remarks))


def _value(value: str | None) -> str:
    if value is None:
        return "-"
    text = _HASH.sub(lambda found: f"{found[0][:16]}...", printable(value))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _stages(comparison: Comparison) -> Section:
    rows = tuple(
        (
            stage.name,
            stage.a or "-",
            stage.b or "-",
            _seconds(stage.seconds_a),
            _seconds(stage.seconds_b),
            _tests(stage.tests_a),
            _tests(stage.tests_b),
            str(stage.change),
        )
        for stage in comparison.stages
    )
    header = ("stage", "A", "B", "A seconds", "B seconds", "A tests", "B tests", "")
    remarks = [line for stage in comparison.stages for line in _about_tests(stage)]
    remarks.append("each stage was timed once a side, so nothing is said of its times")
    return Section("Stages", header, rows, tuple(remarks))


def _about_tests(stage: StageComparison) -> Iterator[str]:
    for test in stage.lost_tests[:_NAMED]:
        yield f"{stage.name}: {printable(test.name)}: {test.a} in A, {test.b or 'not there'} in B"
    if (more := len(stage.lost_tests) - _NAMED) > 0:
        yield f"{stage.name}: and {more} more"
    if stage.new_tests:
        yield f"{stage.name}: {stage.new_tests} new test{'s' * (stage.new_tests > 1)} in B"


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f}"


def _tests(count: int | None) -> str:
    return "-" if count is None else str(count)


def _performance(comparison: Comparison) -> Section:
    found = comparison.performance
    rows = [
        (
            printable(case.case),
            metric.metric,
            _spread(metric.a, metric.unit),
            _spread(metric.b, metric.unit),
            _change(metric),
            "REGRESSION" if metric.regression else str(metric.judgement),
        )
        for case in found.cases
        for metric in case.metrics
    ]
    for times in comparison.informational:
        a, b = (_spread(side, "s") if side else "-" for side in (times.a, times.b))
        rows.append((printable(times.what), "seconds", a, b, "", "informational"))
    remarks = [f"refused: {printable(reason)}" for reason in found.refused]
    remarks += [
        f"{printable(case.case)}: refused: {printable(case.refused)}" for case in found.cases if case.refused
    ]
    for side, cases in (("A", found.only_in_a), ("B", found.only_in_b)):
        remarks += [f"{printable(case)}: measured in {side} only" for case in cases]
    judgements = {metric.judgement for case in found.cases for metric in case.metrics}
    if Judgement.TOO_FEW_RUNS in judgements:
        remarks.append(f"fewer than {FEWEST_RUNS} runs a side have no spread that a difference could exceed")
    if found.attribution and judgements & {Judgement.BETTER, Judgement.WORSE}:
        remarks.append(printable(found.attribution))
    if not (rows or remarks):
        remarks.append("neither side has runs of a benchmark")
    header = ("case", "metric", "A: median (least to most) ± robust, runs", "B", "change", "") if rows else ()
    return Section("Performance", header, tuple(rows), tuple(remarks))


def _spread(spread: Spread, unit: str) -> str:
    scale, unit = (_GIB, "GiB") if unit == "bytes" else (1, unit)
    median, least, most, robust = (
        f"{value / scale:,.4g}" if abs(value / scale) < 1000 else f"{value / scale:,.1f}"
        for value in (spread.median, spread.least, spread.most, spread.robust)
    )
    return f"{median} {unit} ({least} to {most}) ± {robust}, {spread.runs}"


def _change(metric: MetricComparison) -> str:
    return "-" if metric.change_percent is None else f"{metric.change_percent:+.2f} %"


def _tokens(comparison: Comparison) -> Section:
    found = comparison.tokens
    rows = tuple(
        (
            printable(one.subject),
            str(one.equal),
            str(len(one.differing)),
            str(one.only_in_a),
            str(one.only_in_b),
        )
        for one in found.subjects
    )
    remarks = [
        f"{printable(one.subject)}: {printable(difference.prompt)}: token {difference.at} is "
        f"{_token(difference.a)} in A, {_token(difference.b)} in B"
        for one in found.subjects
        for difference in one.differing[:_NAMED]
    ]
    if found.not_judged:
        remarks.append(f"differences are not judged: {found.not_judged}")
    if not rows:
        remarks.append("neither side has answers")
    header = ("answers of", "equal", "differing", "prompt only in A", "only in B") if rows else ()
    return Section("Tokens", header, rows, tuple(remarks))


def _token(token: int | None) -> str:
    return "missing (the answer has ended)" if token is None else str(token)
