"""Shards as one side of a comparison, whatever the merged archive is worth."""

from datetime import UTC, datetime

from npu_assay.comparison.baseline import Baseline
from npu_assay.comparison.facts import Fact, Group
from npu_assay.comparison.joining import joined
from npu_assay.comparison.stages import StageFacts
from npu_assay.evidence.manifest import StageStatus


def shard(kernel: str, emulated: bool, started: int, **stages: str) -> Baseline:
    return Baseline(
        sums_sha256="1" * 64,
        pipeline="demo",
        environment="e",
        emulated=emulated,
        started=datetime(2026, 1, started, tzinfo=UTC),
        facts=(Fact(group=Group.HOST, name="kernel", value=kernel, stage=None),),
        stages=tuple(
            StageFacts(name=name, status=StageStatus(status), seconds=1.0, tests=None)
            for name, status in stages.items()
        ),
        performance=(),
        answers=(),
        round_seconds={"cold": (1.0,)},
    )


def statuses(found: Baseline) -> dict[str, str]:
    return {stage.name: str(stage.status) for stage in found.stages}


def test_all_of_the_shards_is_there() -> None:
    a = shard("6.1", False, 2, every="pass", one="pass", two="not run")
    b = shard("5.10", True, 1, every="pass", one="not run", two="fail")
    found = joined([a, b], "2" * 64)
    assert statuses(found) == {"every": "pass", "one": "pass", "two": "fail"}
    assert found.facts[0].value == "6.1; 5.10"
    assert (found.emulated, found.started.day, found.sums_sha256) == (True, 1, "2" * 64)
    assert found.round_seconds == {"cold": (1.0, 1.0)}
    assert joined([a, a], "2" * 64).facts[0].value == "6.1"


def test_of_a_stage_that_more_than_one_ran_the_worst_counts() -> None:
    good = shard("6.1", False, 1, every="pass")
    assert statuses(joined([good, good], "2" * 64)) == {"every": "pass"}
    for bad in ("fail", "inconclusive", "skipped"):
        assert statuses(joined([good, shard("6.1", False, 1, every=bad)], "2" * 64)) == {"every": bad}


def test_shards_of_different_pipelines_are_joined_by_name() -> None:
    found = joined(
        [shard("6.1", False, 1, one="pass"), shard("6.1", False, 1, two="pass", one="fail")], "2" * 64
    )
    assert statuses(found) == {"one": "fail", "two": "pass"}
