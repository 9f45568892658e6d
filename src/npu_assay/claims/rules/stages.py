"""The stages that a published result consists of were run and passed."""

from collections.abc import Iterator, Sequence

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.manifest import StageStatus

_MANIFEST = Evidence("manifest.json")


class StagesRule(Rule):
    """What the manifest says of each stage. What really happened is derived from the logs by other rules."""

    name = "stages"
    version = 1

    def __init__(self, stages: Sequence[str]) -> None:
        self.stages = stages

    def check(self, case: Case) -> Iterator[Finding]:
        if case.manifest.interrupted:
            yield self.inconclusive("the run was interrupted", _MANIFEST)
        for stage in self.stages:
            yield self._judge(case, stage)

    def _judge(self, case: Case, stage: str) -> Finding:
        record = case.manifest.stage(stage)
        if record is None:
            return self.inconclusive(f"{stage}: not a stage of this run", _MANIFEST)
        log_exists = case.archive.stage_log(stage).is_file()
        message = f"{stage}: {record.status}" + (f", {record.reason}" if record.reason else "")
        match record.status:
            case StageStatus.PASS if record.exit_code != 0:
                return self.failed(f"{message}, but its exit code is {record.exit_code}", _MANIFEST)
            case StageStatus.PASS if record.reason:
                return self.failed(f"{message}; a stage that passed has no reason", _MANIFEST)
            case StageStatus.PASS if not log_exists:
                return self.failed(f"{message}, but it left no log", _MANIFEST)
            case StageStatus.PASS:
                return self.passed(message, _MANIFEST, case.log_of(stage))
            case StageStatus.FAIL | StageStatus.SKIPPED:
                return self.failed(message, _MANIFEST, case.log_of(stage))
            case StageStatus.INCONCLUSIVE | StageStatus.INTERRUPTED:
                return self.inconclusive(message, _MANIFEST, case.log_of(stage))
            case StageStatus.NOT_RUN | StageStatus.NOT_APPLICABLE if log_exists:
                return self.failed(f"{message}, but it left a log", _MANIFEST, case.log_of(stage))
            case StageStatus.NOT_RUN if stage in case.elsewhere:  # judged there
                return self.not_applicable(f"{message}; {case.elsewhere[stage]} ran it", _MANIFEST)
            case StageStatus.NOT_RUN | StageStatus.NOT_APPLICABLE if case.mode is Mode.LIMITED:
                return self.not_applicable(message, _MANIFEST)
            case StageStatus.NOT_RUN | StageStatus.NOT_APPLICABLE:  # the result consists of all its stages
                return self.inconclusive(message, _MANIFEST)
