"""results/kv-offload.jsonl: the rounds of KV cache offloading.

In a round a prompt runs cold, the local prefix cache is dropped, and the same prompt runs again: its KV
blocks must come back from the host (external) and lead to the same tokens.
"""

import math
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, ValidationError

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.strict import first_problem

#: Tokens of a KV block; vllm-ascend 0.18 sets it where the user does not (vllm_ascend/platform.py).
BLOCK_TOKENS = 128

STAGE = "native-high-level"
FILE = "results/kv-offload.jsonl"


class Round(BaseModel):
    """The fields of a row that are judged. None is "not measured", which is not 0."""

    model_config = ConfigDict(strict=True, extra="ignore")

    backend: str
    run: int
    prompt_tokens: int
    cold_cached_tokens: int | None
    reset_prefix_cache: bool | None
    external_cached_tokens: int | None
    cold_token_ids: list[int]
    external_token_ids: list[int]
    cold_seconds: float
    external_seconds: float
    prompt_sha256: str | None = None


def reusable_tokens(prompt_tokens: int) -> int:
    """How many tokens of a prompt can come back from the host.

    Whole blocks; but the last token is computed again even where they are the whole prompt, because its
    output is needed (`num_computed_tokens`, vllm/v1/core/sched/scheduler.py of vLLM 0.18).
    """
    return min(prompt_tokens // BLOCK_TOKENS * BLOCK_TOKENS, prompt_tokens - 1)


class OffloadRoundsRule(Rule):
    """As many rounds as asked for, with different prompts, and each of them as it must be."""

    name = "offload-rounds"
    version = 1

    def __init__(self, backend: str) -> None:
        self._backend = backend

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        rounds: list[tuple[Round, Evidence]] = []
        for row in case.rows(FILE):
            place = Evidence(FILE, row.line)
            try:
                rounds.append((Round.model_validate(row.values), place))
            except ValidationError as error:
                yield self.failed(f"not a round: {first_problem(error)}", place)
        rounds = [(entry, place) for entry, place in rounds if entry.backend == self._backend]
        yield from self._number(case, rounds)
        for entry, place in rounds:
            findings = [*self._as_set(case, entry, place), *self._judge(entry, place)]
            yield from findings or [
                self.passed(
                    f"round {entry.run}: {entry.external_cached_tokens} of {entry.prompt_tokens} tokens came "
                    f"back, {len(entry.cold_token_ids)} token ids identical",
                    place,
                )
            ]

    def _number(self, case: Case, rounds: list[tuple[Round, Evidence]]) -> Iterator[Finding]:
        record = case.manifest.stage(STAGE)
        expected = record.settings.get("rounds") if record else None
        everywhere = Evidence(FILE)
        good = True
        if len(rounds) != expected:
            good = False
            yield self.failed(
                f"{len(rounds)} rounds of backend {self._backend}, expected {expected}", everywhere
            )
        runs = [entry.run for entry, _ in rounds]
        if len(set(runs)) != len(runs):
            good = False
            yield self.failed(f"the run numbers are not all different: {runs}", everywhere)
        # Without a hash they are told apart by cold run (a prompt seen before would not be cold) and tokens.
        prompts = [entry.prompt_sha256 for entry, _ in rounds if entry.prompt_sha256 is not None]
        if len(set(prompts)) != len(prompts):
            good = False
            yield self.failed(f"the prompts are not all different: {prompts}", everywhere)
        bare = [tuple(entry.cold_token_ids) for entry, _ in rounds if entry.prompt_sha256 is None]
        if len(set(bare)) != len(bare):
            good = False
            yield self.inconclusive("rounds without a prompt_sha256 have the same tokens", everywhere)
        if good:
            yield self.passed(f"{len(rounds)} rounds with different prompts", everywhere)

    def _as_set(self, case: Case, entry: Round, place: Evidence) -> Iterator[Finding]:
        """What is not as the stage's settings say."""
        record = case.manifest.stage(STAGE)
        settings = record.settings if record else {}
        length = settings.get("prompt_tokens")
        if entry.prompt_tokens != length:
            message = f"prompt_tokens is {entry.prompt_tokens}, the stage's setting is {length}"
            yield self.failed(f"round {entry.run}: {message}", place)
        wanted, tokens = settings.get("max_tokens"), len(entry.cold_token_ids)
        if wanted is not None and tokens not in (0, wanted):  # the suite ignores the end-of-sequence token
            message = f"{tokens} token ids, the stage's setting max_tokens is {wanted}"
            yield self.failed(f"round {entry.run}: {message}", place)

    def _judge(self, entry: Round, place: Evidence) -> Iterator[Finding]:
        """What is not as it must be."""
        expected = reusable_tokens(entry.prompt_tokens)
        who = f"round {entry.run}"
        if expected == 0:
            yield self.inconclusive(f"{who}: a prompt of {entry.prompt_tokens} tokens fills no block", place)
        for name, found, wanted in (
            ("cold_cached_tokens", entry.cold_cached_tokens, 0),
            ("external_cached_tokens", entry.external_cached_tokens, expected),
            ("reset_prefix_cache", entry.reset_prefix_cache, True),
        ):
            if found is None:
                yield self.inconclusive(f"{who}: {name} is null, so it was not measured", place)
            elif found != wanted:
                yield self.failed(f"{who}: {name} is {found}, expected {wanted}", place)
        if not entry.cold_token_ids:
            yield self.failed(f"{who}: no tokens", place)
        if entry.cold_token_ids != entry.external_token_ids:
            yield self.failed(
                f"{who}: tokens differ: cold {entry.cold_token_ids}, external {entry.external_token_ids}",
                place,
            )
        for name, seconds in (
            ("cold_seconds", entry.cold_seconds),
            ("external_seconds", entry.external_seconds),
        ):
            if not (math.isfinite(seconds) and seconds > 0):
                yield self.failed(f"{who}: {name} is {seconds}, expected more than 0", place)
