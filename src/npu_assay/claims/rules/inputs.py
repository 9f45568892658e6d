"""The models and datasets that stages read are those that the manifest names."""

from collections.abc import Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.manifest import StageRecord
from npu_assay.evidence.stage_inputs import StageInputs, read_stage_inputs


class InputsRule(Rule):
    """stages/<stage>.inputs.json is what the manifest says, and one name is one model in all stages.

    Reads these files. It can't know whether a stage read what it says: of the prompts, results have hashes of
    their own; of a model's weights, the tokens are all that there is.
    """

    name = "inputs"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        read: list[tuple[StageRecord, StageInputs]] = []
        for record in case.manifest.stages:
            path = case.archive.stage_inputs(record.name)
            place = Evidence(f"stages/{path.name}")
            said = case.in_manifest("stages", record.name, "inputs")
            if not path.is_file():
                if record.inputs is not None:
                    yield self.failed(f"{record.name}: the manifest has inputs, there is no {place}", said)
                continue
            inputs = read_stage_inputs(path, str(place))
            if inputs == record.inputs:
                read.append((record, inputs))
                names = [model.name for model in inputs.models] + [data.name for data in inputs.datasets]
                yield self.passed(f"{record.name} read {', '.join(names)}", place, said)
            else:
                yield self.failed(f"{record.name}: {place} is not what the manifest says", place, said)
        yield from self._same(case, read)
        if not read:
            yield self.not_applicable("no stage that says what it read was run")

    def _same(self, case: Case, read: list[tuple[StageRecord, StageInputs]]) -> Iterator[Finding]:
        seen: dict[str, tuple[object, str]] = {}
        for record, inputs in read:
            for model in inputs.models:
                files, stage = seen.setdefault(model.name, (model.files, record.name))
                if files != model.files:
                    yield self.failed(
                        f"{model.name} is another model in {record.name} than in {stage}",
                        Evidence(f"stages/{record.name}.inputs.json"),
                        Evidence(f"stages/{stage}.inputs.json"),
                    )
