"""How many tests each stage passed, counted from the cases of its JUnit file."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from npu_assay.claims.rule import without_root
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import Manifest
from npu_assay.evidence.pytest_junit import Outcome, read_pytest_junit


@dataclass(frozen=True)
class StageTests:
    """The tests of one stage."""

    stage: str
    file: str
    counts: Mapping[Outcome, int]
    problem: str = ""
    """Why they can't be counted."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def tests_of(archive: Archive, manifest: Manifest) -> tuple[StageTests, ...]:
    """Of each stage that left a JUnit file."""
    return tuple(
        _counted(archive, stage.name)
        for stage in manifest.stages
        if archive.stage_junit(stage.name).is_file()
    )


def _counted(archive: Archive, stage: str) -> StageTests:
    path = archive.stage_junit(stage)
    file = path.relative_to(archive.root).as_posix()
    try:
        return StageTests(stage, file, Counter(case.outcome for case in read_pytest_junit(path, file).tests))
    except UsageError as error:
        return StageTests(stage, file, {}, without_root(str(error), archive.root))
