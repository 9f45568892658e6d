"""ci/times: what is measured, and what is written into a pipeline file."""

import tomllib

import pytest
from planted_shards import merged, plant_shards
from small_pipelines import Running

from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import DeviceRecord, Manifest, ModelRecord, StageStatus
from npu_assay.pipeline import times as times_module
from npu_assay.pipeline.definition import load_pipeline
from npu_assay.pipeline.times import main, measured_seconds, with_seconds, write_times
from npu_assay.project import PIPELINES

FILE = """\
# What it is about.
name = "demo"

[[stage]]
name = "health"
command = ["{python}", "-c", "pass"]
timeout = 30
every_shard = true

# Why there is this one.
[[stage]]
name = "fast"
command = ["{python}", "-c", "pass"]
timeout = 30  # plenty
seconds = 1

[[stage]]
name = "slow"
command = ["{python}", "-c", "pass"]
timeout = 30
seconds = 99.5  # on the emulator

[stage.settings]
rounds = 3
"""


@pytest.fixture
def ran(tmp_path) -> Manifest:
    """A run of the file's stages."""
    running = Running(tmp_path)
    tables = tomllib.loads(FILE)["stage"]
    return running.run(running.plan(*tables))


def taking(run: Manifest, seconds: float, **changes: object) -> Manifest:
    """The run as if every stage had taken so long."""
    stages = tuple(stage.model_copy(update={"seconds": seconds, **changes}) for stage in run.stages)
    return run.model_copy(update={"stages": stages})


def test_the_median_of_passed_runs_and_a_tenth_more(ran, tmp_path):
    (tmp_path / "demo.toml").write_text(FILE)
    pipeline, _ = load_pipeline(tmp_path / "demo.toml")
    good = [taking(ran, seconds) for seconds in (10.0, 40.0, 20.0)]
    assert measured_seconds(pipeline, good) == {"fast": 22.0, "slow": 22.0}

    other_model = ModelRecord(path="/m", architectures=("A",), model_type="a", files={})
    for other in (
        taking(ran, 500.0, status=StageStatus.FAIL),
        taking(ran, 500.0).model_copy(update={"model": other_model}),
        taking(ran, 500.0).model_copy(
            update={"pipeline": ran.pipeline.model_copy(update={"name": "engine"})}
        ),
    ):
        assert measured_seconds(pipeline, [*good, other, other, other]) == {"fast": 22.0, "slow": 22.0}
    changed = taking(ran, 500.0, settings={"rounds": 4})
    assert measured_seconds(pipeline, [*good, changed, changed, changed]) == {"fast": 22.0, "slow": 22.0}
    assert measured_seconds(pipeline, [taking(ran, 0.001)])["fast"] == 0.1


def test_a_file_keeps_its_comments_and_its_order(ran, tmp_path):
    path = tmp_path / "demo.toml"
    path.write_text(FILE)
    said = write_times([taking(ran, 10.0)], tmp_path)
    assert said == ["demo: fast: 1.0 -> 11.0", "demo: slow: 99.5 -> 11.0"]
    changed = FILE.replace("seconds = 1\n", "seconds = 11.0\n").replace("seconds = 99.5", "seconds = 11.0")
    assert path.read_text() == changed

    failed = taking(ran, 10.0, status=StageStatus.FAIL)
    assert write_times([failed], tmp_path)[0] == "demo: fast: 11.0 -> not measured"
    assert path.read_text() == changed


def test_a_stage_without_a_line_of_its_own_is_named():
    assert "seconds = 2.0" in with_seconds(FILE, {"fast": 2.0})
    with pytest.raises(UsageError, match="stage fast has no line `seconds`"):
        with_seconds(FILE.replace("seconds = 1\n", ""), {"fast": 2.0})


def test_emulated_and_real_times_are_not_mixed(ran, tmp_path):
    (tmp_path / "demo.toml").write_text(FILE)
    write_times([ran], tmp_path)
    hardware = ran.model_copy(update={"device": DeviceRecord(kind="hardware", dies=(), visible_devices=None)})
    with pytest.raises(UsageError, match="runs on one kind of device, found emulated and hardware"):
        write_times([ran, hardware], tmp_path)
    with pytest.raises(UsageError, match="found none"):
        write_times([], tmp_path)


def test_the_script_takes_archives_of_runs_and_merged_ones(tmp_path, monkeypatch, capsys):
    (tmp_path / "ci").mkdir()
    file = tmp_path / "ci/kv-offload.toml"
    file.write_text((PIPELINES / "kv-offload.toml").read_text())
    monkeypatch.setattr(times_module, "PIPELINES", tmp_path / "ci")
    shards = plant_shards(tmp_path)
    for shard in shards:
        shard.change_stage("native-transfer", seconds=20.0)
        shard.seal()
    assert main([str(merged(shards, tmp_path / "merged"))]) == 0
    assert "kv-offload: native-transfer: " in capsys.readouterr().out
    by_name = {stage.name: stage for stage in load_pipeline(file)[0].stage}
    assert by_name["native-transfer"].seconds == 22.0


def test_the_script_names_what_is_no_archive(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"ci/times: {tmp_path}: no manifest.json")
