"""Runs of a benchmark (results/performance-runs.jsonl) compared case by case, each with its spread.

Nothing is compared that was not measured alike: other CANN, an emulated NPU against a real one, or another
workload is refused. What is called worse or better is more than the noise of both sides (`noise`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

from pydantic import Field, ValidationError

from npu_assay.comparison.noise import Judgement, Spread, judge
from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import read_rows
from npu_assay.strict import Strict, first_problem

FILE = "results/performance-runs.jsonl"

_Measured = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, strict=True)]
_Some = Annotated[int, Field(gt=0, strict=True)]


class PerformanceRun(Strict):
    """One measured round of a case. None is "not measured", which is not 0."""

    case: Annotated[str, Field(min_length=1)]
    offload_group_size: _Count | None = None
    offload_num_in_group: _Count | None = None
    load: _Count | None = None
    """Which loading of the model it belongs to."""
    round: _Count
    prompts: _Some | None = None
    input_tokens: _Some | None = None
    output_tokens: _Some | None = None
    seconds: _Measured
    output_tokens_per_second: _Measured
    kv_cache_bytes: _Some | None = None
    weight_bytes_saved: _Count | None = None
    host_rss_bytes: _Some | None = None
    device_used_bytes: _Some | None = None

    @property
    def key(self) -> "CaseKey":
        return CaseKey(self.case, self.offload_group_size, self.offload_num_in_group)

    @property
    def workload(self) -> str:
        """What was asked for, in words."""
        fields = (
            (self.prompts, "prompts"),
            (self.input_tokens, "input"),
            (self.output_tokens, "output tokens"),
        )
        return ", ".join(f"{'unknown' if number is None else number} {what}" for number, what in fields)


@dataclass(frozen=True)
class CaseKey:
    """Which case a run is of."""

    case: str
    offload_group_size: int | None
    offload_num_in_group: int | None

    def __str__(self) -> str:
        offload = self.offload_group_size, self.offload_num_in_group
        group = "" if offload == (None, None) else " ({}, {})".format(*offload)
        return self.case + group


@dataclass(frozen=True)
class Metric:
    """A number that a run has."""

    name: str
    unit: str
    higher_is_better: bool

    def of(self, run: PerformanceRun) -> float | None:
        """In its unit; None where it was not measured."""
        value: float | None = getattr(run, self.name)
        return value


METRICS = (
    Metric("output_tokens_per_second", "tokens/s", True),
    Metric("seconds", "s", False),
    Metric("kv_cache_bytes", "bytes", True),
    Metric("weight_bytes_saved", "bytes", True),
    Metric("host_rss_bytes", "bytes", False),
    Metric("device_used_bytes", "bytes", False),
)


class MetricComparison(Strict):
    """A metric of a case on both sides."""

    metric: str
    unit: str
    higher_is_better: bool
    a: Spread
    b: Spread
    change_percent: float | None
    """Of the medians, B against A; None where A's is 0."""
    judgement: Judgement
    regression: bool
    """Worse, by more than the tolerance."""


class CaseComparison(Strict):
    """A case that both sides ran."""

    case: str
    sample: str
    """What one run is: `round`, or `load` (the median of a load's rounds) where a side has several loads."""
    refused: str
    """Why its metrics are not compared; empty where they are."""
    metrics: tuple[MetricComparison, ...]


class PerformanceComparison(Strict):
    """The section performance."""

    refused: tuple[str, ...]
    """Why nothing is compared."""
    attribution: str
    """What a difference can be put down to."""
    cases: tuple[CaseComparison, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]

    @property
    def compared(self) -> bool:
        """Whether there is a judgement on anything."""
        return any(
            metric.judgement is not Judgement.TOO_FEW_RUNS for case in self.cases for metric in case.metrics
        )

    @property
    def regressions(self) -> Iterator[str]:
        """In one line each."""
        for case in self.cases:
            for metric in case.metrics:
                if metric.regression:
                    change = "" if metric.change_percent is None else f", {metric.change_percent:+.2f} %"
                    yield f"performance of {case.case}: {metric.metric} is worse{change}"
        # Without any case B did not run the benchmark, which its stages tell.
        if not self.refused and (self.cases or self.only_in_b):
            yield from (f"performance of {case}: measured in A, not in B" for case in self.only_in_a)


def read_runs(path: Path, source: str) -> tuple[PerformanceRun, ...]:
    """The measured rounds of a file; none where it does not exist.

    A row that says `warm_up` is what it says; without that, round 0 warms up. Raises UsageError with file and
    line for a row that failed, measured nothing, or stands twice.
    """
    if not path.is_file():
        return ()
    runs: list[PerformanceRun] = []
    seen: set[tuple[CaseKey, int | None, int]] = set()
    for row in read_rows(path):
        where = f"{source}/{FILE}:{row.line}"
        # A stage's row may have more fields than are compared.
        known = {name: value for name, value in row.values.items() if name in PerformanceRun.model_fields}
        if problem := row.values.get("error") or row.values.get("failed"):
            raise UsageError(f"{where}: a run that failed ({problem}) can't be compared; measure it again")
        try:
            run = PerformanceRun.model_validate(known)
        except ValidationError as error:
            raise UsageError(f"{where}: not a run of a benchmark: {first_problem(error)}") from error
        place = run.key, run.load, run.round
        if place in seen:
            raise UsageError(f"{where}: {run.key}, load {run.load}, round {run.round} stands here twice")
        seen.add(place)
        warms_up = row.values.get("warm_up")
        if not isinstance(warms_up, bool | None):
            raise UsageError(f"{where}: warm_up is {warms_up!r}, expected true or false")
        if not (run.round == 0 if warms_up is None else warms_up):
            runs.append(run)
    return tuple(runs)


def compare_performance(
    a: Sequence[PerformanceRun],
    b: Sequence[PerformanceRun],
    *,
    refused: tuple[str, ...],
    attribution: str,
    tolerance: float,
) -> PerformanceComparison:
    """Case by case; `refused` is why the two sides can't be compared at all, `tolerance` is in per cent."""
    ours, theirs = _by_case(a), _by_case(b)
    return PerformanceComparison(
        refused=refused if ours or theirs else (),
        attribution=attribution if ours and theirs and not refused else "",
        cases=()
        if refused
        else tuple(_case(key, ours[key], theirs[key], tolerance) for key in ours if key in theirs),
        only_in_a=tuple(str(key) for key in ours if key not in theirs),
        only_in_b=tuple(str(key) for key in theirs if key not in ours),
    )


def _by_case(runs: Sequence[PerformanceRun]) -> Mapping[CaseKey, list[PerformanceRun]]:
    """In the order of the file."""
    cases: dict[CaseKey, list[PerformanceRun]] = {}
    for run in runs:
        cases.setdefault(run.key, []).append(run)
    return cases


def _case(
    key: CaseKey, a: Sequence[PerformanceRun], b: Sequence[PerformanceRun], tolerance: float
) -> CaseComparison:
    workloads = sorted({run.workload for run in (*a, *b)})
    by_load = any(len({run.load for run in side}) > 1 for side in (a, b))
    refused = f"workloads differ: {' against '.join(workloads)}" if len(workloads) > 1 else ""
    metrics: list[MetricComparison] = []
    for metric in () if refused else METRICS:
        ours, theirs = (_samples(side, metric.of, by_load) for side in (a, b))
        if ours and theirs:
            metrics.append(_metric(metric, ours, theirs, tolerance))
    return CaseComparison(
        case=str(key), sample="load" if by_load else "round", refused=refused, metrics=tuple(metrics)
    )


def _samples(
    runs: Sequence[PerformanceRun], value_of: Callable[[PerformanceRun], float | None], by_load: bool
) -> list[float]:
    """One value a run; rounds of one load are no runs of their own: what the load has, they all have."""
    groups: dict[object, list[float]] = {}
    for run in runs:
        value = value_of(run)
        if value is not None:
            groups.setdefault(run.load if by_load else (run.load, run.round), []).append(value)
    return [median(values) for values in groups.values()]


def _metric(metric: Metric, a: list[float], b: list[float], tolerance: float) -> MetricComparison:
    before, after = Spread.of(a), Spread.of(b)
    change = None if before.median == 0 else 100 * (after.median / before.median - 1)
    judgement = judge(a, b, higher_is_better=metric.higher_is_better)
    beyond = change is None or abs(change) > tolerance
    return MetricComparison(
        metric=metric.name,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        a=before,
        b=after,
        change_percent=change,
        judgement=judgement,
        regression=judgement is Judgement.WORSE and beyond,
    )
