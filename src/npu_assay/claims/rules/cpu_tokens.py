"""results/tokens-equal-cpu.jsonl: the emulated NPU's tokens are those of the same model on the CPU."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.offload import TokenId
from npu_assay.claims.rule import Rule
from npu_assay.claims.suite_tests import compared_with_cpu
from npu_assay.evidence.manifest import StageRecord
from npu_assay.strict import first_problem

FILE = "results/tokens-equal-cpu.jsonl"

#: Tokens of the prompts that the suites compare, as in suites/support/cpu_tokens.py; None is a whole one.
LENGTHS = (1, 7, None)


class Comparison(BaseModel):
    """A row: the same prompt, answered greedily by both."""

    model_config = ConfigDict(strict=True, extra="ignore")

    device_kind: str
    prompt_tokens: Annotated[int, Field(gt=0)]
    npu_token_ids: list[TokenId]
    cpu_token_ids: list[TokenId]


class CpuTokensRule(Rule):
    """Only the emulator computes the tiny model in float32 as the CPU does; other runs leave no such file."""

    name = "cpu-tokens"
    version = 2

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def check(self, case: Case) -> Iterator[Finding]:
        record = case.manifest.stage(self._stage)
        if record is None or not case.was_run(self._stage):
            yield self.stage_not_run(self._stage)
        elif compared_with_cpu(case, self._stage) or (case.archive.root / FILE).exists():
            yield from self._compare(case, record)
        else:
            yield self.not_applicable(f"no {FILE}: tokens were not compared with a CPU's")

    def _compare(self, case: Case, record: StageRecord) -> Iterator[Finding]:
        if not (case.archive.root / FILE).exists():
            yield self.inconclusive(f"no {FILE}: the tiny model's tokens were not compared with a CPU's")
            return
        lengths = []
        for row in case.rows(FILE):
            place = Evidence(FILE, row.line)
            try:
                compared = Comparison.model_validate(row.values)
            except ValidationError as error:
                yield self.failed(f"not a comparison: {first_problem(error)}", place)
                continue
            lengths.append(compared.prompt_tokens)
            yield self._judge(case, record, compared, place)
        whole = record.settings.get("prompt_tokens")
        expected = [whole if length is None else length for length in LENGTHS]
        if lengths != expected:
            message = f"expected prompts of {expected} tokens, found {lengths[:20]}"
            yield self.failed(message, Evidence(FILE))

    def _judge(self, case: Case, record: StageRecord, compared: Comparison, place: Evidence) -> Finding:
        who = f"prompt of {compared.prompt_tokens} tokens"
        npu, cpu, kind = compared.npu_token_ids, compared.cpu_token_ids, case.manifest.device.kind
        wanted = record.settings.get("max_tokens")
        if compared.device_kind != kind:
            return self.failed(f"{who}: device_kind is {compared.device_kind!r}, the run's is {kind}", place)
        if not npu or npu != cpu:
            return self.failed(f"{who}: NPU {npu}, CPU {cpu}", place)
        if wanted is not None and len(npu) != wanted:
            message = f"{who}: {len(npu)} token ids, the stage's setting max_tokens is {wanted}"
            return self.failed(message, place)
        return self.passed(f"{who}: {len(npu)} token ids as on the CPU", place)
