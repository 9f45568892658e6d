"""A pipeline divided over several runs: `--shard I/N`.

Every shard has the stages that are `every_shard`. The others are dealt out by the time that they take, so
that the shards end together: longest first, each to the shard that has the least so far (R. L. Graham,
"Bounds on multiprocessing timing anomalies", 1969: at most 4/3 of the best division). Nothing but the
pipeline file and N decides, so that hosts which never speak to each other divide alike.
"""

import re

from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import ShardRecord
from npu_assay.pipeline.definition import Pipeline, Stage

_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})", re.ASCII)


def read_shard(text: str) -> ShardRecord:
    """The shard that `--shard I/N` names. Raises UsageError where that is none."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise UsageError(f"--shard {text}: expected I/N, such as 1/2 for the first of two")
    index, count = int(found[1]), int(found[2])
    if not 1 <= index <= count:
        raise UsageError(
            f"--shard {text}: shards are counted from 1 to N; there is no shard {index} of {count}"
        )
    return ShardRecord(index=index, count=count)


def stages_of_shard(pipeline: Pipeline, shard: ShardRecord) -> frozenset[str]:
    """The names of the stages that this shard runs.

    Raises UsageError when none but those of every shard would be left for it, or a stage has no `seconds`.
    """
    groups = _groups(pipeline)
    if shard.count > len(groups):
        raise UsageError(
            f"--shard {shard}: pipeline {pipeline.name} has {len(groups)} stages to divide (those that need"
            f" each other count as one), so that of {shard.count} shards one would be empty and prove nothing"
        )
    own = _deal(groups, shard.count)[shard.index - 1]
    return frozenset(stage.name for stage in pipeline.stage if stage.every_shard or stage in own)


def _groups(pipeline: Pipeline) -> list[list[Stage]]:
    """The stages to divide, those that need each other together; in the order of the file."""
    groups: list[list[Stage]] = []
    for stage in pipeline.stage:
        if stage.every_shard:
            continue
        needed = [group for group in groups if any(other.name in stage.needs for other in group)]
        groups = [group for group in groups if group not in needed]
        groups.append([*(other for group in needed for other in group), stage])
    order = pipeline.stage_names
    return sorted(groups, key=lambda group: order.index(group[0].name))


def _deal(groups: list[list[Stage]], count: int) -> list[list[Stage]]:
    """The stages of each shard. Of two groups that take the same time the first of the file comes first."""
    shards: list[list[Stage]] = [[] for _ in range(count)]
    for group in sorted(groups, key=_seconds, reverse=True):  # a stable sort
        min(shards, key=_seconds).extend(group)
    return shards


def _seconds(stages: list[Stage]) -> float:
    for stage in stages:
        if stage.seconds is None:
            raise UsageError(
                f"--shard: stage {stage.name} has no `seconds` in its pipeline file, by which stages are"
                " divided; write there how long it takes"
            )
    return sum(stage.seconds or 0.0 for stage in stages)
