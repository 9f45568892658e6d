"""The stages that a published result consists of were run and passed."""

from collections.abc import Iterator, Sequence

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.manifest import StageStatus


class StagesRule(Rule):
    """The stages that the result consists of ran, and the manifest says that they passed.

    Reads manifest.json, and whether a stage has a log. What really happened is derived from what the stages
    left by the rule pipeline and by those of the stages.
    """

    name = "stages"
    version = 1

    def __init__(self, stages: Sequence[str]) -> None:
        self.stages = stages

    def check(self, case: Case) -> Iterator[Finding]:
        if case.manifest.interrupted:
            yield self.inconclusive("the run was interrupted", case.in_manifest("interrupted"))
        for stage in self.stages:
            yield self._judge(case, stage)

    def _judge(self, case: Case, stage: str) -> Finding:
        record = case.manifest.stage(stage)
        if record is None:
            return self.inconclusive(f"{stage}: not a stage of this run", case.in_manifest("stages"))
        manifest = case.in_manifest("stages", stage, "status")
        log_exists = case.archive.stage_log(stage).is_file()
        message = f"{stage}: {record.status}" + (f", {record.reason}" if record.reason else "")
        match record.status:
            case StageStatus.PASS if record.exit_code != 0:
                return self.failed(f"{message}, but its exit code is {record.exit_code}", manifest)
            case StageStatus.PASS if record.reason:
                return self.failed(f"{message}; a stage that passed has no reason", manifest)
            case StageStatus.PASS if not log_exists:
                return self.failed(f"{message}, but it left no log", manifest)
            case StageStatus.PASS:
                return self.passed(message, manifest, case.log_of(stage))
            case StageStatus.FAIL | StageStatus.SKIPPED:
                return self.failed(message, manifest, case.log_of(stage))
            case StageStatus.INCONCLUSIVE | StageStatus.INTERRUPTED:
                return self.inconclusive(message, manifest, case.log_of(stage))
            case StageStatus.NOT_RUN | StageStatus.NOT_APPLICABLE if log_exists:
                return self.failed(f"{message}, but it left a log", manifest, case.log_of(stage))
            case StageStatus.NOT_RUN if stage in case.elsewhere:  # judged there
                return self.not_applicable(f"{message}; {case.elsewhere[stage]} ran it", manifest)
            case StageStatus.NOT_RUN | StageStatus.NOT_APPLICABLE if case.mode is Mode.LIMITED:
                return self.not_applicable(message, manifest)
            case StageStatus.NOT_RUN | StageStatus.NOT_APPLICABLE:  # the result consists of all its stages
                return self.inconclusive(message, manifest)
