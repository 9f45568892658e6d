"""Stages and their tests on both sides: what passed and no longer does, and what is gone."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from pydantic import NonNegativeFloat

from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import Manifest, Name, StageStatus
from npu_assay.evidence.pytest_junit import Outcome, read_pytest_junit
from npu_assay.strict import Strict

#: Not run on request, or for want of dies: neither better nor worse than what was.
_LEFT_OUT = (StageStatus.NOT_RUN, StageStatus.NOT_APPLICABLE)
_GOOD = (Outcome.PASSED, Outcome.XFAILED)


class StageFacts(Strict):
    """A stage of a run."""

    name: Name
    status: StageStatus
    seconds: NonNegativeFloat | None
    tests: dict[str, Outcome] | None
    """Name -> outcome; None for a stage that left no JUnit file."""


class StageChange(StrEnum):
    """What became of a stage from A to B."""

    SAME = "same"
    BROKEN = "broken"
    """It passed in A, or its tests did."""
    MENDED = "mended"
    CHANGED = "changed"
    """From one bad end to another."""
    LEFT_OUT = "left out"
    """One side did not run it."""
    NEW = "new"
    GONE = "gone"


class TestChange(Strict):
    """A test that no longer passes; `b` is None where it is gone."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    name: str
    a: Outcome
    b: Outcome | None


class StageComparison(Strict):
    """A stage on both sides; None on the one that does not have it."""

    name: str
    change: StageChange
    a: StageStatus | None
    b: StageStatus | None
    seconds_a: float | None
    seconds_b: float | None
    tests_a: int | None
    tests_b: int | None
    lost_tests: tuple[TestChange, ...]
    """Those that passed in A and don't in B, and all that are gone."""
    new_tests: int

    @property
    def compared(self) -> bool:
        """Whether both sides ran it."""
        return self.change not in (StageChange.LEFT_OUT, StageChange.NEW, StageChange.GONE)

    @property
    def regressions(self) -> Iterator[str]:
        """In one line each."""
        if self.change is StageChange.GONE:
            yield f"stage {self.name}: {self.a} in A, not there in B"
        elif self.change is StageChange.BROKEN and self.a != self.b:
            yield f"stage {self.name}: {self.a} in A, {self.b} in B"
        if self.lost_tests:
            first, count = self.lost_tests[0], len(self.lost_tests)
            tests = f"{count} test{'s' * (count > 1)}"
            now = first.b or "not there"
            yield f"stage {self.name}: {tests} lost, first {first.name}: {first.a} in A, {now} in B"


def read_stages(archive: Archive, manifest: Manifest) -> tuple[StageFacts, ...]:
    """The stages of a run in their order. Raises UsageError for a malformed JUnit file."""
    return tuple(
        StageFacts(
            name=record.name,
            status=record.status,
            seconds=record.seconds,
            tests={test.name: test.outcome for test in read_pytest_junit(path).tests}
            if path.is_file()
            else None,
        )
        for record in manifest.stages
        for path in [archive.stage_junit(record.name)]
    )


def compare_stages(
    a: Sequence[StageFacts], b: Sequence[StageFacts], *, same_pipeline: bool
) -> tuple[StageComparison, ...]:
    """Stage by stage, in A's order and then B's. In another pipeline a stage may be missing."""
    ours, theirs = ({stage.name: stage for stage in side} for side in (a, b))
    return tuple(
        _compare(name, ours.get(name), theirs.get(name), same_pipeline)
        for name in dict.fromkeys((*ours, *theirs))
    )


def _compare(name: str, a: StageFacts | None, b: StageFacts | None, same_pipeline: bool) -> StageComparison:
    change = _change(a, b, same_pipeline)
    both = change not in (StageChange.LEFT_OUT, StageChange.NEW, StageChange.GONE)
    before = (a.tests if a else None) or {}
    after = (b.tests if b else None) or {}
    lost = tuple(_lost(before, after)) if both else ()
    return StageComparison(
        name=name,
        change=StageChange.BROKEN if lost else change,
        a=None if a is None else a.status,
        b=None if b is None else b.status,
        seconds_a=None if a is None else a.seconds,
        seconds_b=None if b is None else b.seconds,
        tests_a=None if a is None or a.tests is None else len(a.tests),
        tests_b=None if b is None or b.tests is None else len(b.tests),
        lost_tests=lost,
        new_tests=len(after.keys() - before.keys()) if both else 0,
    )


def _change(a: StageFacts | None, b: StageFacts | None, same_pipeline: bool) -> StageChange:
    if a is None:
        return StageChange.NEW
    if b is None:
        ran = same_pipeline and a.status not in _LEFT_OUT
        return StageChange.GONE if ran else StageChange.LEFT_OUT
    if a.status in _LEFT_OUT or b.status in _LEFT_OUT:
        return StageChange.LEFT_OUT
    if a.status is b.status:
        return StageChange.SAME
    if StageStatus.PASS in (a.status, b.status):
        return StageChange.BROKEN if a.status is StageStatus.PASS else StageChange.MENDED
    return StageChange.CHANGED


def _lost(a: Mapping[str, Outcome], b: Mapping[str, Outcome]) -> Iterator[TestChange]:
    for name, outcome in a.items():
        now = b.get(name)
        if now is None or (outcome in _GOOD and now not in _GOOD):
            yield TestChange(name=name, a=outcome, b=now)
