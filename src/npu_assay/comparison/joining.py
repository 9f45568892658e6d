"""The shards of a merged archive as one side of a comparison. Pure."""

from collections.abc import Sequence
from itertools import chain

from npu_assay.comparison.baseline import Baseline
from npu_assay.comparison.facts import Fact, Group
from npu_assay.comparison.stages import StageFacts
from npu_assay.evidence.manifest import StageStatus


def joined(shards: Sequence[Baseline], sums_sha256: str) -> Baseline:
    """All that the shards found, as if one run had; `sums_sha256` is the merged archive's own.

    A stage is that of the shard which ran it, of one that each ran the worst. A fact that shards disagree on,
    as of their hosts, has all values.
    """
    first = shards[0]
    times = dict.fromkeys(chain.from_iterable(shard.round_seconds for shard in shards))
    return Baseline(
        sums_sha256=sums_sha256,
        pipeline=first.pipeline,
        environment=first.environment,
        emulated=any(shard.emulated for shard in shards),
        started=min(shard.started for shard in shards),
        facts=_facts(shards),
        stages=tuple(
            _stage([shard.stages[number] for shard in shards]) for number in range(len(first.stages))
        ),
        performance=tuple(run for shard in shards for run in shard.performance),
        answers=tuple(answer for shard in shards for answer in shard.answers),
        round_seconds={
            what: tuple(chain.from_iterable(shard.round_seconds.get(what, ()) for shard in shards))
            for what in times
        },
    )


def _facts(shards: Sequence[Baseline]) -> tuple[Fact, ...]:
    found: dict[tuple[Group, str], list[Fact]] = {}
    for fact in chain.from_iterable(shard.facts for shard in shards):
        found.setdefault((fact.group, fact.name), []).append(fact)
    return tuple(
        same[0].model_copy(update={"value": "; ".join(dict.fromkeys(fact.value for fact in same))})
        for same in found.values()
    )


def _stage(stages: Sequence[StageFacts]) -> StageFacts:
    ran = [stage for stage in stages if stage.status is not StageStatus.NOT_RUN]
    bad = [stage for stage in ran if stage.status is not StageStatus.PASS]
    return (bad or ran or stages)[0]
