"""The devices' health, judged again from npu-smi's raw output."""

from collections.abc import Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.device.health import assess
from npu_assay.device.stored import read_outputs


class HealthRule(Rule):
    """Every device was healthy, and there were as many as the manifest says."""

    name = "health"
    version = 1
    stage = "health"

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self.stage):
            yield self.stage_not_run(self.stage)
            return
        folder = Evidence("device")
        assessment = assess(read_outputs([case.archive.device]))
        for problem in assessment.problems:
            yield self.failed(problem, folder)
        dies, recorded = len(assessment.devices), case.manifest.device.dies
        if dies != recorded:
            yield self.failed(f"dies: npu-smi shows {dies}, the manifest says {recorded}", folder)
        elif assessment.healthy:
            yield self.passed(f"dies: {dies}, all healthy", folder)
