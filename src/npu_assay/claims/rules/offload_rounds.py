"""Each round of KV cache offloading is as it must be, and they are the rounds that were asked for."""

import math
from collections.abc import Collection, Iterator, Sequence

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.offload import FILE, STAGE, Round, read_rounds
from npu_assay.claims.rule import Rule

#: Tokens of a KV block; vllm-ascend 0.18 sets it where the user does not (vllm_ascend/platform.py).
BLOCK_TOKENS = 128

Placed = tuple[Round, Evidence]


def reusable_tokens(prompt_tokens: int) -> int:
    """How many tokens of a prompt can come back from the host.

    Whole blocks; but the last token is computed again even where they are the whole prompt, because its
    output is needed (`num_computed_tokens`, vllm/v1/core/sched/scheduler.py of vLLM 0.18).
    """
    return min(prompt_tokens // BLOCK_TOKENS * BLOCK_TOKENS, prompt_tokens - 1)


class OffloadRoundsRule(Rule):
    """As many rounds as asked for, in order, with different prompts, and each of them as it must be."""

    name = "offload-rounds"
    version = 2

    def __init__(self, backend: str, stage: str = STAGE, beside: Collection[str] = ()) -> None:
        """Judge the rows of `backend`; only those backends may have rows beside them."""
        self._backend = backend
        self._stage = stage
        self._beside = beside

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self._stage):
            yield self.stage_not_run(self._stage)
            return
        rounds: list[Placed] = []
        for row in read_rounds(case):
            if row.round is None:
                yield self.failed(f"not a round: {row.problem}", row.place)
            elif row.round.backend == self._backend:
                rounds.append((row.round, row.place))
            elif row.round.backend not in self._beside:
                message = f"a round of backend {row.round.backend!r}, expected {self._backend}"
                yield self.failed(message, row.place)
        yield from self._together(case, rounds)
        for entry, place in rounds:
            findings = [*self._as_run(case, entry, place), *self._judge(entry, place)]
            yield from findings or [
                self.passed(
                    f"round {entry.run}: {entry.external_cached_tokens} of {entry.prompt_tokens} tokens came "
                    f"back, {len(entry.cold_token_ids)} token ids identical",
                    place,
                )
            ]

    def _together(self, case: Case, rounds: Sequence[Placed]) -> Iterator[Finding]:
        """What all of them together have to be."""
        problems = [*self._numbers(case, rounds), *self._prompts(rounds), *self._time(case, rounds)]
        yield from problems or [self.passed(f"{len(rounds)} rounds with different prompts", Evidence(FILE))]

    def _numbers(self, case: Case, rounds: Sequence[Placed]) -> Iterator[Finding]:
        record = case.manifest.stage(self._stage)
        expected = record.settings.get("rounds") if record else None
        if len(rounds) != expected:
            message = f"{len(rounds)} rounds of backend {self._backend}, expected {expected}"
            yield self.failed(message, Evidence(FILE))
        runs = [entry.run for entry, _ in rounds]
        if runs != list(range(1, len(runs) + 1)):
            yield self.failed(f"expected the runs numbered from 1 on, found {runs}", Evidence(FILE))

    def _prompts(self, rounds: Sequence[Placed]) -> Iterator[Finding]:
        """Different ones: a prompt that was seen before is not cold."""
        seen: dict[str, Evidence] = {}
        for entry, place in rounds:
            if entry.prompt_sha256 is None:
                yield self.inconclusive(
                    f"round {entry.run}: no prompt_sha256 says which prompt it was", place
                )
            elif entry.prompt_sha256 in seen:
                message = f"the prompts are not all different: {entry.prompt_sha256} again"
                yield self.failed(message, seen[entry.prompt_sha256], place)
            else:
                seen[entry.prompt_sha256] = place
        answers: dict[tuple[int, ...], Placed] = {}
        for entry, place in rounds:
            other, before = answers.setdefault(tuple(entry.cold_token_ids), (entry, place))
            if other is entry or not entry.cold_token_ids:
                continue
            if (other.cold_seconds, other.external_seconds) == (entry.cold_seconds, entry.external_seconds):
                yield self.failed("two rounds have the same tokens and the same seconds", before, place)
            else:
                message = "two rounds have the same tokens, though other prompts"
                yield self.inconclusive(message, before, place)

    def _time(self, case: Case, rounds: Sequence[Placed]) -> Iterator[Finding]:
        """They took no longer than their stage."""
        record = case.manifest.stage(self._stage)
        seconds = [time for entry, _ in rounds for time in (entry.cold_seconds, entry.external_seconds)]
        if record and record.seconds is not None and (total := sum(seconds)) > record.seconds:
            message = f"the rounds took {total:.3f} s, all of the stage {record.seconds} s"
            yield self.failed(message, Evidence(FILE), Evidence("manifest.json"))

    def _as_run(self, case: Case, entry: Round, place: Evidence) -> Iterator[Finding]:
        """What is not as the manifest says that the stage was run."""
        record, kind = case.manifest.stage(self._stage), case.manifest.device.kind
        settings = record.settings if record else {}
        who = f"round {entry.run}"
        if entry.device_kind != kind:
            yield self.failed(f"{who}: device_kind is {entry.device_kind!r}, the run's is {kind}", place)
        for name, found in (
            ("prompt_tokens", entry.prompt_tokens),
            ("tensor_parallel_size", entry.tensor_parallel_size),
        ):
            if found != (wanted := settings.get(name)):
                yield self.failed(f"{who}: {name} is {found}, the stage's setting is {wanted}", place)
        for name, tokens in (("stored", entry.stored_tokens), ("retrieved", entry.retrieved_tokens)):
            if tokens is not None and entry.backend == "native":
                yield self.failed(f"{who}: {name}_tokens is {tokens}, the native backend logs none", place)
        wanted, tokens = settings.get("max_tokens"), len(entry.cold_token_ids)
        if wanted is not None and tokens not in (0, wanted):  # the suite ignores the end-of-sequence token
            yield self.failed(f"{who}: {tokens} token ids, the stage's setting max_tokens is {wanted}", place)

    def _judge(self, entry: Round, place: Evidence) -> Iterator[Finding]:
        """What is not as it must be."""
        expected = reusable_tokens(entry.prompt_tokens)
        who = f"round {entry.run}"
        if expected <= 0:
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
            message = f"tokens differ: cold {entry.cold_token_ids}, external {entry.external_token_ids}"
            yield self.failed(f"{who}: {message}", place)
        for name, seconds in (
            ("cold_seconds", entry.cold_seconds),
            ("external_seconds", entry.external_seconds),
        ):
            if not (math.isfinite(seconds) and seconds > 0):
                yield self.failed(f"{who}: {name} is {seconds}, expected more than 0", place)
