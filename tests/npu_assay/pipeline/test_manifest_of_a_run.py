"""What the runner writes into the manifest of what its stages left."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from offload_archive import NPU_SMI

from npu_assay.evidence.archive import create_archive
from npu_assay.evidence.manifest import ChangedSetting, StageStatus, read_manifest
from npu_assay.pipeline import clock

SHA = "a" * 64
INPUTS = {
    "schema_version": 1,
    "models": [{"name": "tiny", "files": {"config.json": {"sha256": SHA, "size": 2}}}],
    "datasets": [{"name": "prompts", "source": "made", "revision": "seed 0", "rows": 3, "sha256": SHA}],
}


def leaving(name: str, text: str) -> list[str]:
    program = (
        "import os, pathlib; p = pathlib.Path(os.environ['NPU_ASSAY_ARCHIVE'], {!r});"
        " p.parent.mkdir(exist_ok=True); p.write_text({!r})"
    )
    return ["{python}", "-c", program.format(name, text)]


def test_a_stages_inputs_are_in_the_manifest(running):
    stage = {"name": "one", "command": leaving("stages/one.inputs.json", json.dumps(INPUTS))}
    manifest = running.run(running.plan(stage, {"name": "two"}))
    inputs = read_manifest(running.archive.manifest).stage("one").inputs
    assert inputs.models[0].files["config.json"].size == 2
    assert (inputs.datasets[0].revision, inputs.datasets[0].sha256) == ("seed 0", SHA)
    assert manifest.stage("two").inputs is None


@pytest.mark.parametrize("code", [0, 3])
def test_inputs_that_cannot_be_used_fail_the_stage(running, tmp_path, code):
    def plan(text):
        *python, program = leaving("stages/one.inputs.json", text)
        return running.plan({"name": "one", "command": [*python, f"{program}; raise SystemExit({code})"]})

    good = running.run(plan(json.dumps(INPUTS)))
    assert good.stages[0].status in (StageStatus.PASS, StageStatus.INCONCLUSIVE)
    bad = running.run(plan(json.dumps(INPUTS | {"datasets": 1})), archive=create_archive(tmp_path / "second"))
    assert bad.stages[0].status is StageStatus.FAIL
    assert bad.stages[0].reason == "stages/one.inputs.json: datasets: Input should be a valid array"
    assert bad.stages[0].inputs is None


def test_the_state_of_the_dies_is_what_npu_smi_showed(running):
    stages = [
        {"name": f"{folder}-{number}".replace("/", "-"), "command": leaving(f"{folder}/{name}", text)}
        for folder in ("device", "device/after")
        for number, (name, text) in enumerate(NPU_SMI.items())
    ]
    device = running.run(running.plan(*stages)).device
    (before,), (after,) = device.before, device.after
    assert before == after
    assert (before.npu_id, before.chip_id, before.health) == (0, 0, "OK")
    assert (before.temperature, before.power_w) == (0, 0)
    assert (before.hbm_used_mib, before.hbm_total_mib, before.processes) == (0, 65536, ())


def test_what_was_not_shown_is_null(running, tmp_path):
    unreadable = {"name": "one", "command": leaving("device/npu-smi-info.txt", "nonsense")}
    broken = {"name": "two", "command": leaving("environment.json", '{"packages": 1}')}
    manifest = running.run(running.plan(unreadable, broken))
    assert (manifest.device.before, manifest.device.after, manifest.loaded) == (None, None, None)


def test_versions_and_files_are_those_of_environment_json(running):
    facts = {"packages": [{"name": "torch", "version": "2.9.0", "path": "/x/torch/__init__.py"}], "more": 1}
    loaded = running.run(
        running.plan({"name": "one", "command": leaving("environment.json", json.dumps(facts))})
    ).loaded
    assert {name: (one.version, one.file) for name, one in loaded.items()} == {
        "torch": ("2.9.0", "/x/torch/__init__.py")
    }


def test_a_changed_setting_is_a_deviation_and_one_set_to_its_default_is_none(running, tmp_path):
    stage = {"name": "one", "settings": {"rounds": 3, "seed": 0}, "optional": {"dtype": "str"}}
    assert running.run(running.plan(stage, settings=["one.rounds=3"])).changed_settings == {}
    changed = running.run(
        running.plan(stage, settings=["one.rounds=5", "one.dtype=float32"]),
        archive=create_archive(tmp_path / "second"),
    ).changed_settings
    assert changed == {
        "one.rounds": ChangedSetting(default=3, used=5),
        "one.dtype": ChangedSetting(default=None, used="float32"),
    }


def test_times_are_in_order_though_the_hosts_clock_is_set_back(running, monkeypatch):
    times = iter([datetime.now(UTC) - timedelta(hours=hours) for hours in range(9)])

    class SetBack(datetime):
        @classmethod
        def now(cls, tz=None):
            return next(times)

    monkeypatch.setattr(clock, "datetime", SetBack)
    manifest = running.run(running.plan({"name": "one"}, {"name": "two"}))
    one, two = manifest.stages
    assert manifest.started <= one.started < two.started <= manifest.finished
    assert read_manifest(running.archive.manifest).stage("two").started is not None
