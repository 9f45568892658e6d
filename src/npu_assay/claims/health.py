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
        outputs = read_outputs([case.archive.device])
        assessment = assess(outputs)
        for problem in assessment.problems:
            yield self.failed(problem, folder)
        dies, recorded = len(assessment.devices), case.manifest.device.dies
        if dies != recorded:
            yield self.failed(f"dies: npu-smi shows {dies}, the manifest says {recorded}", folder)
            return
        missing = [
            f"npu-smi info {option} is missing"
            for option, output in (("-m", outputs.mapping), ("-l", outputs.listing))
            if output is None
        ]
        if len(outputs.health) < dies:
            missing.append(f"{len(outputs.health)} outputs of npu-smi info -t health")
        if missing:
            yield self.inconclusive(f"{dies} dies, but {' and '.join(missing)}", folder)
        elif assessment.healthy:
            yield self.passed(f"dies: {dies}, all healthy", folder)
