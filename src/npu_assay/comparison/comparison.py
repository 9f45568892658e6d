"""Two sides of a comparison, subject by subject, and what of it is a regression. Pure."""

from typing import Annotated, Literal

from pydantic import Field

from npu_assay.comparison.baseline import Baseline
from npu_assay.comparison.environment import (
    EnvironmentComparison,
    against_performance,
    compare_environments,
)
from npu_assay.comparison.facts import Group
from npu_assay.comparison.noise import Spread
from npu_assay.comparison.performance import PerformanceComparison, compare_performance
from npu_assay.comparison.stages import StageComparison, compare_stages
from npu_assay.comparison.tokens import TokenComparison, compare_tokens
from npu_assay.evidence.manifest import UtcTime
from npu_assay.strict import Strict


class Side(Strict):
    """Which archive it is."""

    pipeline: str
    environment: str
    emulated: bool
    started: UtcTime
    sums_sha256: str


class Times(Strict):
    """Seconds that are shown without a judgement; None where a side has none."""

    what: str
    a: Spread | None
    b: Spread | None


class Comparison(Strict):
    """What `compare --format json` prints."""

    schema_version: Literal[1] = 1
    a: Side
    b: Side
    tolerance_percent: Annotated[float, Field(ge=0)]
    environment: EnvironmentComparison
    stages: tuple[StageComparison, ...]
    performance: PerformanceComparison
    informational: tuple[Times, ...]
    tokens: TokenComparison
    regressions: tuple[str, ...]
    """What is worse in B, in one line each."""
    compared: bool
    """Whether there was anything that both sides have and that may be compared."""

    @property
    def exit_code(self) -> int:
        """1 for a regression, 3 when nothing could be compared."""
        if self.regressions:
            return 1
        return 0 if self.compared else 3

    @property
    def conclusion(self) -> str:
        """In one line."""
        if self.regressions:
            count = len(self.regressions)
            return f"{count} regression{'s' * (count > 1)}"
        if not self.compared:
            return "inconclusive: nothing could be compared"
        return "no regression" + (", performance not compared" if self.performance.refused else "")


def compare(a: Baseline, b: Baseline, tolerance_percent: float) -> Comparison:
    """B against A."""
    environment = compare_environments(a.facts, b.facts)
    stages = compare_stages(a.stages, b.stages, same_pipeline=a.pipeline == b.pipeline)
    performance = compare_performance(
        a.performance,
        b.performance,
        refused=against_performance(a.facts, b.facts, environment),
        attribution=environment.attribution,
        tolerance=tolerance_percent,
    )
    tokens = compare_tokens(a.answers, b.answers, _against_tokens(a, b, environment))
    return Comparison(
        a=_side(a),
        b=_side(b),
        tolerance_percent=tolerance_percent,
        environment=environment,
        stages=stages,
        performance=performance,
        informational=tuple(
            Times(
                what=what,
                a=_spread(a.round_seconds.get(what)),
                b=_spread(b.round_seconds.get(what)),
            )
            for what in dict.fromkeys((*a.round_seconds, *b.round_seconds))
        ),
        tokens=tokens,
        regressions=(
            *(line for stage in stages for line in stage.regressions),
            *performance.regressions,
            *tokens.regressions,
        ),
        compared=any(stage.compared for stage in stages) or performance.compared or tokens.compared,
    )


def _against_tokens(a: Baseline, b: Baseline, environment: EnvironmentComparison) -> str:
    """Why other tokens are no fault."""
    if a.emulated != b.emulated:
        return "an emulated NPU computes as a CPU does, a real one does not"
    return "the models differ" if environment.differs(Group.MODEL) else ""


def _side(baseline: Baseline) -> Side:
    return Side(
        pipeline=baseline.pipeline,
        environment=baseline.environment,
        emulated=baseline.emulated,
        started=baseline.started,
        sums_sha256=baseline.sums_sha256,
    )


def _spread(seconds: tuple[float, ...] | None) -> Spread | None:
    return Spread.of(seconds) if seconds else None
