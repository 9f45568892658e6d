"""The rule pipeline: the manifest's stages, the archive's pipeline and this checkout's say the same."""

import hashlib
from datetime import timedelta

import pytest
from offload_archive import SETTINGS, Change, OffloadArchive, messages
from planted_run import SECONDS

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.evidence.manifest import ChangedSetting, DeviceRecord, PipelineRecord, ShardRecord, StageStatus

PIPELINE = "inputs/pipeline.toml"


def stage(name: str, **changes: object) -> Change:
    return lambda offload: offload.change_stage(name, **changes)


def moved(name: str, seconds: float) -> Change:
    def change(offload: OffloadArchive) -> None:
        record = offload.manifest.stage(name)
        offload.change_stage(name, started=record.started + timedelta(seconds=seconds))

    return change


def command(name: str, old: str, new: str) -> Change:
    """Everywhere in the stage's command."""

    def change(offload: OffloadArchive) -> None:
        words = [word.replace(old, new) for word in offload.manifest.stage(name).command]
        assert words != list(offload.manifest.stage(name).command)
        offload.change_stage(name, command=tuple(word for word in words if word))

    return change


def reordered(offload: OffloadArchive) -> None:
    first, second, *rest = offload.manifest.stages
    offload.change_manifest(stages=(second, first, *rest))


def edited(offload: OffloadArchive, old: str, new: str) -> None:
    """Another pipeline, and a manifest that says so."""
    offload.replace(PIPELINE, old, new)
    sha256 = hashlib.sha256((offload.root / PIPELINE).read_bytes()).hexdigest()
    offload.change_manifest(pipeline=PipelineRecord(name="kv-offload", sha256=sha256))


FAULTS: dict[str, tuple[Change, str]] = {
    "no pipeline": (lambda o: (o.root / PIPELINE).unlink(), "pipeline/1: no inputs/pipeline.toml"),
    "another than the manifest's": (
        lambda o: o.replace(PIPELINE, "timeout = 60", "timeout = 61"),
        "pipeline/1: inputs/pipeline.toml is ",
    ),
    "a stage less": (
        lambda o: o.change_manifest(stages=o.manifest.stages[:-1]),
        "pipeline/1: the manifest's stages are cann, build,",
    ),
    "other order": (reordered, "pipeline/1: the manifest's stages are build, cann,"),
    "no setting": (stage("native-high-level", settings={}), "setting rounds is missing, the pipeline says 3"),
    "an unknown setting": (stage("unit", settings={"x": 1}), "pipeline/1: unit: x is no setting of it"),
    "a setting of another type": (
        stage("native-high-level", settings=SETTINGS | {"rounds": "3"}),
        "setting rounds is '3', expected a value of type int",
    ),
    "a bool for a number": (
        stage("native-high-level", settings=SETTINGS | {"seed": False}),
        "setting seed is False, expected a value of type int",
    ),
    "passed with another exit code": (
        stage("ruff", exit_code=3),
        "ruff: pass, but what it left makes it inconclusive: exit code 3",
    ),
    "passed without what it has to leave": (
        lambda o: (o.root / "results/kv-offload.jsonl").unlink(),
        "high-level: pass, but what it left makes it fail: results/kv-offload.jsonl: the stage did not leave",
    ),
    "passed without the mapping of the chips": (
        lambda o: (o.root / "device/npu-smi-info-m.txt").unlink(),
        "health: pass, but what it left makes it fail: device/npu-smi-info-m.txt: ",
    ),
    "inconclusive for a pass": (
        stage("unit", status=StageStatus.INCONCLUSIVE),
        "unit: inconclusive, but what it left makes it pass manifest.json:",
    ),
    "passed without a start": (
        stage("ruff", command=(), started=None, seconds=None, exit_code=None),
        "ruff: pass, but it was not started",
    ),
    "passed without a time": (stage("ruff", seconds=None), "it has no start, no time or no command"),
    "interrupted in a run that was not": (
        stage("unit", status=StageStatus.INTERRUPTED, exit_code=-15),
        "unit: interrupted, but the run was not",
    ),
    "passed though it needs a failed one": (
        stage("versions-and-paths", status=StageStatus.FAIL, exit_code=1),
        "unit: pass, though it needs versions-and-paths, which is fail",
    ),
    "without the dies that it needs": (
        lambda o: o.change_manifest(device=DeviceRecord(kind="emulated", dies=(), visible_devices=None)),
        "health: pass, though it needs 1 dies and the run had 0",
    ),
    "not applicable with dies enough": (
        lambda o: o.remove_stage("native-transfer", StageStatus.NOT_APPLICABLE, "needs 2 dies"),
        "native-transfer: not applicable, but there were dies enough",
    ),
    "longer than it may": (
        lambda o: [
            o.change_manifest(finished=o.manifest.finished + timedelta(seconds=700)),
            o.change_stage("health-after", seconds=700.0),
        ],
        "health-after: pass in 700 s, its time limit is 120 s manifest.json:",
    ),
    "two at once": (moved("ruff", -3), "ruff: started before health had ended"),
    "in another order": (moved("unit", -3 * SECONDS), "unit: started before vllm-ascend-ut had ended"),
    "a stage of another shard": (
        lambda o: o.change_manifest(shard=ShardRecord(index=1, count=2)),
        ", but shard 1/2 does not run it",
    ),
    "a change that was not made": (
        lambda o: [
            o.record(),
            setattr(o, "forged", True),
            o.change_manifest(
                changed_settings={"native-high-level.rounds": ChangedSetting(default=1, used=3)}
            ),
        ],
        "settings that differ from the pipeline's are none, the manifest says native-high-level.rounds",
    ),
    "another word": (
        command("ruff", "--isolated", "--exit-zero"),
        "ruff: its command has '--exit-zero' where the pipeline has '--isolated'",
    ),
    "a word less": (command("compileall", "-q", ""), "compileall: its command has '-f' where the"),
    "a word more": (
        lambda o: o.change_stage("ruff", command=(*o.manifest.stage("ruff").command, "--exit-zero")),
        "ruff: its command goes on: --exit-zero",
    ),
    "a command that ends": (
        lambda o: o.change_stage("unit", command=o.manifest.stage("unit").command[:3]),
        "unit: its command ends before '-p'",
    ),
    "another Python": (
        command("unit", "/venv/bin/python", "/other/bin/python"),
        "unit: {python} is ",
    ),
    "another npu-assay": (command("health", "npu_assay", "my_assay"), "expected -I -m npu_assay after "),
    "another archive": (command("health", "/runs/1", "/runs/2"), "health: {archive} is /home/me/runs/2, in "),
    "the JUnit of another stage": (
        command("unit", "unit.junit.xml", "unot.junit.xml"),
        "expected <archive>/stages/unit.junit.xml",
    ),
    "another package": (
        command("ruff", "/vllm_ascend", "/vllm_other"),
        "ruff: {vllm_ascend} is ",
    ),
    "another environment": (command("build", "cann900-vllm018", "cann900"), "{environment} is cann900, in "),
    "another device": (command("build", "emulated", "npu"), "{device} is npu, in the manifest's device"),
    "nothing": (command("build", "/home/me/runs/1", ""), "build: its command ends before '{archive}'"),
    "site-packages of another environment": (
        command("cann", "-0123456789abcdef/", "-fedcba9876543210/"),
        "cann: {site} is ",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), FAULTS.values(), ids=FAULTS)
def test_what_contradicts_the_pipeline_fails(offload: OffloadArchive, change: Change, says: str) -> None:
    good = offload.verdict()
    assert good.result is Result.PASS
    said = "\n".join(messages(good, Result.PASS))
    assert "pipeline/1: inputs/pipeline.toml is this checkout's ci/pipelines/kv-offload.toml, " in said
    assert "pipeline/1: 11 stages: order, settings, commands, needs, times and status fit" in said
    change(offload)
    verdict = offload.verdict()
    assert says in "\n".join(messages(verdict, Result.FAIL))
    assert verdict.result is Result.FAIL


def test_a_finding_names_the_line_of_the_manifest(offload: OffloadArchive) -> None:
    assert offload.verdict().result is Result.PASS
    offload.change_stage("ruff", exit_code=3)
    (failed,) = [
        one for one in offload.verdict().findings if one.result is Result.FAIL and "pipeline" in one.rule
    ]
    place = failed.evidence[0]
    lines = offload.archive.manifest.read_text().splitlines()
    assert lines[place.line - 1].strip() == '"status": "pass",'
    assert lines[place.line - 2].strip() == '"name": "ruff",'


def test_a_pipeline_that_this_checkout_does_not_have_is_never_a_pass(offload: OffloadArchive) -> None:
    assert offload.verdict().result is Result.PASS
    edited(offload, "timeout = 60\n", "timeout = 61\n")
    verdict = offload.verdict()
    assert messages(verdict, Result.FAIL) == []
    (unsure,) = messages(verdict, Result.INCONCLUSIVE)
    assert ", this checkout's ci/pipelines/kv-offload.toml is " in unsure


def test_settings_that_the_user_changed_are_the_runs(offload: OffloadArchive) -> None:
    assert offload.verdict(Mode.LIMITED).result is Result.PASS
    offload.change_stage("native-high-level", settings=SETTINGS | {"kv_offloading_size": 8, "dtype": "half"})
    verdict = offload.verdict(Mode.LIMITED)
    assert [one for one in messages(verdict, Result.FAIL) if one.startswith("pipeline")] == []


@pytest.mark.parametrize("status", [StageStatus.NOT_RUN, StageStatus.NOT_APPLICABLE])
def test_stages_that_were_left_out_rightly_are_no_fault(offload: OffloadArchive, status) -> None:
    assert offload.verdict(Mode.LIMITED).result is Result.PASS
    name = offload.need_two_dies()
    offload.change_stage(name, status=status)
    failed = messages(offload.verdict(Mode.LIMITED), Result.FAIL)
    assert [one for one in failed if one.startswith("pipeline")] == []
