"""The run used the settings under which the result was published."""

from collections.abc import Iterator, Mapping

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.manifest import Setting


class ProtocolRule(Rule):
    """A stage's settings are the published ones. Others make the result another one, not a wrong one.

    Reads manifest.json, whose settings the rule pipeline holds against the pipeline, and the rules of the
    stage's results against these. Other settings than those named here may differ.
    """

    name = "protocol"
    version = 1

    def __init__(self, stage: str, published: Mapping[str, Setting]) -> None:
        self._stage = stage
        self._published = published

    def check(self, case: Case) -> Iterator[Finding]:
        record = case.manifest.stage(self._stage)
        if record is None:
            yield self.stage_not_run(self._stage)
            return
        for key, published in self._published.items():
            used = record.settings.get(key)
            manifest = case.in_manifest("stages", self._stage, "settings", key)
            message = f"{self._stage}.{key} is {used}, published {published}"
            if used == published:
                yield self.passed(message, manifest)
            elif case.mode is Mode.LIMITED:
                yield self.not_applicable(message, manifest)
            else:
                yield self.inconclusive(message, manifest)
