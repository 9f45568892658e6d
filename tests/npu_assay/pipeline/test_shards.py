"""A pipeline divided into shards: whole, without overlap, balanced, alike on every host."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import ShardRecord, StageStatus, read_manifest
from npu_assay.pipeline.definition import Pipeline, load_pipeline
from npu_assay.pipeline.selection import choose_stages
from npu_assay.pipeline.shards import read_shard, stages_of_shard
from npu_assay.project import PIPELINES


def pipeline_of(*stages: dict) -> Pipeline:
    tables = [{"command": ["x"], "timeout": 1.0} | stage for stage in stages]
    return Pipeline.model_validate({"name": "demo", "stage": tables})


def timed(**seconds: float) -> list[dict]:
    return [{"name": name, "seconds": time} for name, time in seconds.items()]


HEALTH = {"name": "health", "every_shard": True}


def divided(pipeline: Pipeline, count: int) -> list[set[str]]:
    """The stages of each shard, without those of every shard."""
    every = {stage.name for stage in pipeline.stage if stage.every_shard}
    shards = [
        stages_of_shard(pipeline, ShardRecord(index=index, count=count)) for index in range(1, count + 1)
    ]
    assert all(every <= shard for shard in shards)
    return [set(shard - every) for shard in shards]


@pytest.mark.parametrize(
    ("stages", "count", "shards"),
    [
        ([HEALTH, *timed(a=1.0, b=2.0)], 1, [{"a", "b"}]),
        ([HEALTH, *timed(a=1.0, b=2.0)], 2, [{"b"}, {"a"}]),
        (timed(a=5.0, b=4.0, c=3.0, d=3.0, e=3.0), 2, [{"a", "d"}, {"b", "c", "e"}]),
        (timed(a=1.0, b=1.0, c=1.0), 2, [{"a", "c"}, {"b"}]),
        (
            [*timed(a=1.0, b=3.0), {"name": "c", "seconds": 3.0, "needs": ["a"]}],
            2,
            [{"a", "c"}, {"b"}],
        ),
        (
            [
                HEALTH,
                {"name": "a", "seconds": 1.0, "needs": ["health"]},
                {"name": "b", "seconds": 1.0, "needs": ["health"]},
            ],
            2,
            [{"a"}, {"b"}],
        ),
        (
            [
                *timed(a=1.0, b=1.0, d=9.0),
                {"name": "c", "seconds": 1.0, "needs": ["a", "b"]},
                {"name": "e", "seconds": 1.0, "needs": ["c"]},
            ],
            2,
            [{"d"}, {"a", "b", "c", "e"}],
        ),
    ],
    ids=[
        "one shard is all",
        "two",
        "longest first",
        "ties in the order of the file",
        "what needs each other",
        "a common need that every shard has",
        "needs of needs",
    ],
)
def test_stages_are_dealt_out_by_time(stages, count, shards):
    assert divided(pipeline_of(*stages), count) == shards


@given(
    times=st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12),
    needs=st.lists(st.integers(0, 11), max_size=12),
    count=st.integers(1, 5),
)
def test_each_stage_is_in_exactly_one_shard_and_no_shard_is_empty(times, needs, count):
    stages = [{"name": f"s{number}", "seconds": time} for number, time in enumerate(times)]
    for number, need in enumerate(needs[: len(stages)]):
        if need < number:
            stages[number]["needs"] = [f"s{need}"]
    pipeline = pipeline_of(HEALTH, *stages)
    groups = sum(
        "needs" not in stage for stage in stages
    )  # each has one need at most: as many as there are roots
    if count > groups:
        with pytest.raises(UsageError, match=f"has {groups} stages to divide .* one would be empty"):
            divided(pipeline, count)
        return
    shards = divided(pipeline, count)
    assert all(shards)
    assert sorted(name for shard in shards for name in shard) == sorted(stage["name"] for stage in stages)
    for stage in pipeline.stage:
        assert all(stage.name in shard for shard in shards for need in stage.needs if need in shard)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0/2", "counted from 1 to N; there is no shard 0 of 2"),
        ("3/2", "there is no shard 3 of 2"),
        ("1/0", "there is no shard 1 of 0"),
        ("a/b", "expected I/N, such as 1/2"),
        ("1", "expected I/N"),
        ("1/2/3", "expected I/N"),
        ("-1/2", "expected I/N"),
        ("1/+2", "expected I/N"),
        (" 1/2", "expected I/N"),
        ("१/२", "expected I/N"),
        ("1/99999999999", "expected I/N"),
        ("", "expected I/N"),
    ],
)
def test_a_shard_that_is_none_is_refused_in_one_line(text, message):
    assert str(read_shard("2/2")) == "2/2"
    with pytest.raises(UsageError, match=message) as error:
        read_shard(text)
    assert str(error.value).startswith(f"--shard {text}: ")
    assert "\n" not in str(error.value)


def test_an_empty_shard_is_refused_with_how_many_stages_there_are():
    pipeline = pipeline_of(HEALTH, *timed(a=1.0, b=2.0))
    assert divided(pipeline, 2) == [{"b"}, {"a"}]
    for index in (1, 2, 3):
        with pytest.raises(UsageError, match="pipeline demo has 2 stages to divide"):
            stages_of_shard(pipeline, ShardRecord(index=index, count=3))


def test_a_stage_without_seconds_cannot_be_divided():
    assert divided(pipeline_of(*timed(a=1.0, b=2.0)), 2)
    with pytest.raises(UsageError, match="stage b has no `seconds` in its pipeline file"):
        divided(pipeline_of(*timed(a=1.0), {"name": "b"}), 2)


def test_a_stage_of_every_shard_needs_no_other():
    pipeline_of(HEALTH, {"name": "after", "every_shard": True, "needs": ["health"]})
    with pytest.raises(ValueError, match="after is every_shard, but needs a, which only one shard has"):
        pipeline_of(*timed(a=1.0), {"name": "after", "every_shard": True, "needs": ["a"]})


def test_a_shard_is_of_the_whole_pipeline():
    pipeline = pipeline_of(HEALTH, *timed(a=1.0, b=2.0))
    assert choose_stages(pipeline, [], read_shard("1/2")) == {"health", "b"}
    with pytest.raises(UsageError, match="--shard divides the whole pipeline: leave out --stage"):
        choose_stages(pipeline, ["a"], read_shard("1/2"))


@pytest.mark.parametrize("path", sorted(PIPELINES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_stage_of_a_committed_pipeline_can_be_divided(path):
    pipeline, _ = load_pipeline(path)
    assert [stage.name for stage in pipeline.stage if not stage.every_shard and stage.seconds is None] == []
    assert [stage.name for stage in pipeline.stage if stage.every_shard and stage.seconds is not None] == []
    assert all(divided(pipeline, 2))


def test_a_run_of_a_shard_says_which_it_is_and_what_others_run(running):
    stages = [HEALTH, *timed(a=1.0, b=2.0)]
    plan = running.plan(*stages)
    whole = running.run(plan)
    assert (whole.shard, whole.partial) == (None, False)

    running.folder /= "shard"
    shard = read_shard("1/2")
    manifest = running.run(running.plan(*stages, chosen=choose_stages(plan.pipeline, [], shard), shard=shard))
    assert manifest.partial
    statuses = {stage.name: stage.status for stage in manifest.stages}
    assert statuses == {"health": StageStatus.PASS, "a": StageStatus.NOT_RUN, "b": StageStatus.PASS}
    assert manifest.stage("a").reason == "not a stage of shard 1/2"
    written = json.loads(running.archive.manifest.read_text())
    assert written["shard"] == {"index": 1, "count": 2}
    assert read_manifest(running.archive.manifest).shard == shard


def test_a_manifest_names_a_shard_that_there_is(running):
    running.run(running.plan({"name": "a"}, shard=ShardRecord(index=2, count=2)))
    text = running.archive.manifest.read_text()
    running.archive.manifest.write_text(text.replace('"index": 2', '"index": 3'))
    with pytest.raises(UsageError, match="there is no shard 3 of 2"):
        read_manifest(running.archive.manifest)
