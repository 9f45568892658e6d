"""results/tokens-equal-cpu.jsonl: the emulated NPU's tokens are those of the same model on the CPU."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, ValidationError

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.suite_tests import compared_with_cpu
from npu_assay.strict import first_problem

FILE = "results/tokens-equal-cpu.jsonl"


class Comparison(BaseModel):
    """A row: the same prompt, answered greedily by both."""

    model_config = ConfigDict(strict=True, extra="ignore")

    prompt_tokens: int
    npu_token_ids: list[int]
    cpu_token_ids: list[int]


class CpuTokensRule(Rule):
    """Only the emulator computes the tiny model in float32 as the CPU does; other runs leave no such file."""

    name = "cpu-tokens"
    version = 1

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def check(self, case: Case) -> Iterator[Finding]:
        if not (case.archive.root / FILE).exists():
            yield self._nothing_compared(case)
            return
        yield from self._compare(case)

    def _nothing_compared(self, case: Case) -> Finding:
        if compared_with_cpu(case, self._stage) and case.was_run(self._stage):
            return self.inconclusive(f"no {FILE}: the tiny model's tokens were not compared with a CPU's")
        return self.not_applicable(f"no {FILE}: tokens were not compared with a CPU's")

    def _compare(self, case: Case) -> Iterator[Finding]:
        for row in case.rows(FILE):
            place = Evidence(FILE, row.line)
            try:
                compared = Comparison.model_validate(row.values)
            except ValidationError as error:
                yield self.failed(f"not a comparison: {first_problem(error)}", place)
                continue
            who = f"prompt of {compared.prompt_tokens} tokens"
            npu, cpu = compared.npu_token_ids, compared.cpu_token_ids
            if npu and npu == cpu:
                yield self.passed(f"{who}: {len(npu)} token ids as on the CPU", place)
            else:
                yield self.failed(f"{who}: NPU {npu}, CPU {cpu}", place)
