"""The rounds of KV cache offloading, held against what the engine itself wrote into the stage's log."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.offload import STAGE, Round, read_rounds
from npu_assay.claims.rule import Rule
from npu_assay.evidence.vllm_logs.kv_cache_size import read_kv_cache_size
from npu_assay.evidence.vllm_logs.lmcache import read_lmcache
from npu_assay.evidence.vllm_logs.prefix_cache import read_prefix_cache_resets

_METRICS = "engine-metrics: "
#: As suites/native_high_level/offloading_engine.py prints it.
_LINE = re.compile(
    r"engine-metrics: after run (\d{1,9}): local_cache_hit (\d{1,15}|not counted)"
    r" external_kv_transfer (\d{1,15}|not counted)"
)


@dataclass(frozen=True)
class _Hits:
    """What the engine had counted after a round, in tokens; None where it does not count it."""

    run: int
    local: int | None
    external: int | None
    place: Evidence


class OffloadLogRule(Rule):
    """In each round the engine emptied its prefix cache, and counted what came from outside as the row does.

    The native backend logs no transfers: a line of LMCache would be that of another run. Sizes of the KV
    cache that engines or workers print agree.
    """

    name = "offload-log"
    version = 1

    def __init__(self, stage: str = STAGE) -> None:
        self._stage = stage

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self._stage):
            yield self.stage_not_run(self._stage)
            return
        rounds = [row.round for row in read_rounds(case) if row.round and row.round.backend == "native"]
        yield self._kv_cache_size(case)
        yield self._resets(case, rounds)
        yield from self._external(case, rounds)
        yield from self._transfers(case)

    def _place(self, line: int) -> Evidence:
        return Evidence(f"stages/{self._stage}.log", line)

    def _kv_cache_size(self, case: Case) -> Finding:
        log = case.log_of(self._stage)
        found = read_kv_cache_size(case.log_chunks(self._stage), str(log))
        places = [self._place(size.line) for size in found.sizes[:5]]
        if not found.sizes:
            return self.inconclusive("no line says how large the KV cache is", log)
        if len(found.values()) > 1:
            values = ", ".join(sorted(f"{count} {unit}" for count, unit in found.values()))
            return self.failed(f"lines say different sizes of the KV cache: {values}", *places)
        if (doubt := next(found.doubts(), None)) is not None:
            return self.inconclusive(f"the KV cache's size: {doubt}", *places)
        size = found.sizes[0]
        return self.passed(f"the KV cache has {size.count} {size.unit}", *places)

    def _resets(self, case: Case, rounds: list[Round]) -> Finding:
        log = case.log_of(self._stage)
        resets = read_prefix_cache_resets(case.log_chunks(self._stage), str(log))
        done = [reset for reset in resets if reset.done]
        places = [self._place(reset.line) for reset in done[:5]] or [log]
        message = f"the engine emptied its prefix cache {len(done)} times, in {len(rounds)} rounds"
        if not resets:
            return self.inconclusive(f"no line of the engine about emptying its prefix cache: {message}", log)
        return (self.passed if len(done) == len(rounds) else self.failed)(message, *places)

    def _external(self, case: Case, rounds: list[Round]) -> Iterator[Finding]:
        """What the engine counted between the ends of two rounds is what the row of the second says."""
        counted = list(self._hits(case))
        log = case.log_of(self._stage)
        if not counted or any(hits.external is None or hits.local is None for hits in counted):
            message = f"no line `{_METRICS}...` that counts what came back in every round"
            yield self.inconclusive(message, log)
            return
        if [hits.run for hits in counted] != [entry.run for entry in rounds]:
            found = ", ".join(str(hits.run) for hits in counted[:20])
            yield self.failed(f"expected a line `{_METRICS}...` for each round in order, found {found}", log)
            return
        before = _Hits(0, 0, 0, log)
        for entry, hits in zip(rounds, counted, strict=True):
            external = (hits.external or 0) - (before.external or 0)
            local = (hits.local or 0) - (before.local or 0)
            message = (
                f"round {entry.run}: the engine counted {external} tokens from outside, {local} of its own"
            )
            before = hits
            said = entry.external_cached_tokens
            if said is None:  # the rounds' own rule says what that means
                continue
            good = (external, local) == (said, 0)
            expected = "" if good else f", the row says {said} and 0"
            yield (self.passed if good else self.failed)(message + expected, hits.place)

    def _hits(self, case: Case) -> Iterator[_Hits]:
        for line in case.log_lines(self._stage, _METRICS):
            if found := _LINE.fullmatch(line.text.strip()):
                run, local, external = found.groups()
                yield _Hits(int(run), _number(local), _number(external), line.evidence)

    def _transfers(self, case: Case) -> Iterator[Finding]:
        log = case.log_of(self._stage)
        transfers = read_lmcache(case.log_chunks(self._stage), str(log))
        for transfer in transfers[:20]:
            message = f"{transfer.way} {transfer.tokens} tokens: a line of LMCache, the backend is native"
            yield self.failed(message, self._place(transfer.line))


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
