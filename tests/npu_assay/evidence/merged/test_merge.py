"""Shards that are one run's become one archive; others are refused, in one line that names both."""

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from offload_archive import IDENTITY, OffloadArchive, device_of, sha256
from planted_shards import merged, own_stages, plant_shard, plant_shards

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, check, writing
from npu_assay.evidence.atomic import folder_beside
from npu_assay.evidence.manifest import DieRecord, ModelRecord, ProjectRecord, ShardRecord, StageStatus
from npu_assay.evidence.merged.record import read_record
from npu_assay.schemas import schema_file


@pytest.fixture
def shards(tmp_path) -> list[OffloadArchive]:
    return plant_shards(tmp_path)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_merged_archive_holds_every_shard_byte_for_byte(shards, tmp_path):
    before = [files_of(shard.root) for shard in shards]
    root = merged(shards, tmp_path / "merged")
    assert [files_of(root / "shards" / name) for name in ("1-of-2", "2-of-2")] == before
    assert [files_of(shard.root) for shard in shards] == before
    assert sorted(path.name for path in root.iterdir()) == [
        "SHA256SUMS",
        "junit.xml",
        "merged.json",
        "shards",
    ]
    for folder in (root, root / "shards/1-of-2", root / "shards/2-of-2"):
        assert check(Archive(folder)) == []
        assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=folder).returncode == 0


def test_the_order_in_which_shards_are_named_changes_nothing(shards, tmp_path):
    there = files_of(merged(shards, tmp_path / "there"))
    back = files_of(merged(shards[::-1], tmp_path / "back"))
    assert there == back


def test_merged_json_says_which_host_ran_what(shards, tmp_path):
    root = merged(shards, tmp_path / "merged")
    record = read_record(root / "merged.json")
    assert [shard.folder for shard in record.shards] == ["shards/1-of-2", "shards/2-of-2"]
    ran = [{stage.name for stage in shard.stages} for shard in record.shards]
    assert ran[0] & ran[1] == {"cann", "build", "versions-and-paths", "health", "health-after"}
    assert ran[0] | ran[1] == {stage.name for stage in shards[0].manifest.stages}
    assert record.shards[0].host == shards[0].manifest.host
    schema = json.loads(schema_file("merged").read_text())
    document = json.loads((root / "merged.json").read_text())
    Draft202012Validator(schema).validate(document)
    assert not Draft202012Validator(schema).is_valid(document | {"more": 1})


def test_junit_has_each_stage_once_and_those_of_every_shard_once_for_each(shards, tmp_path):
    root = merged(shards, tmp_path / "merged")
    cases = list(ElementTree.parse(root / "junit.xml").getroot().iter("testcase"))
    names = [case.get("name") for case in cases]
    assert names[:2] == ["cann (shard 1/2)", "cann (shard 2/2)"]
    assert sorted(name for name in names if "shard" not in name) == [
        "compileall",
        "native-high-level",
        "native-transfer",
        "ruff",
        "unit",
        "vllm-ascend-ut",
    ]
    assert len(names) == 6 + 2 * 5
    assert [case for case in cases if len(case)] == []  # none is skipped, none failed


def change_settings(shard: OffloadArchive) -> None:
    shard.change_stage("native-high-level", settings={"rounds": 5, "prompt_tokens": 300})


def change_environment(shard: OffloadArchive, **changes: object) -> None:
    shard.change_manifest(environment=shard.manifest.environment.model_copy(update=changes))


def change_source(shard: OffloadArchive) -> None:
    shard.change_manifest(source=shard.manifest.source.model_copy(update={"tree_sha256": "7" * 64}))


def change_pipeline(shard: OffloadArchive) -> None:
    other = (shard.root / "inputs/pipeline.toml").read_text().replace("timeout = 60", "timeout = 61")
    shard.write("inputs/pipeline.toml", other)
    shard.change_manifest(pipeline=shard.manifest.pipeline.model_copy(update={"sha256": sha256(other)}))


def change_project(shard: OffloadArchive) -> None:
    project = ProjectRecord(version="0.1.0", python="3.11.9", commit="c" * 40, dirty=False)
    shard.change_manifest(project=project)


CHIP = DieRecord(npu_id=0, chip_id=0, logical_id=0, name="310P3")
MODEL = ModelRecord(path="/models/qwen", architectures=("Qwen2ForCausalLM",), model_type="qwen2", files={})

#: What is done to the second shard -> what is said of it; {1} and {2} are the two folders.
REFUSED = {
    "another lock": (
        lambda shard: change_environment(shard, lock_sha256="9" * 64),
        "{1} and {2} differ in the environment: lock_sha256 is ",
    ),
    "another environment": (
        lambda shard: change_environment(shard, name="cann900-vllm0221"),
        "{1} and {2} differ in the environment: name is cann900-vllm018 and cann900-vllm0221",
    ),
    "another version": (
        lambda shard: change_environment(
            shard, versions=shard.manifest.environment.versions | {"torch": "2.10.0"}
        ),
        "{1} and {2} differ in the environment: versions.torch is 2.9.0 and 2.10.0",
    ),
    "another pipeline": (change_pipeline, "{1} and {2} differ in the pipeline: sha256 is "),
    "another vllm-ascend": (change_source, "{1} and {2} differ in the vllm-ascend: tree_sha256 is "),
    "a model": (
        lambda shard: shard.change_manifest(model=MODEL),
        '{1} and {2} differ in the model: nothing and {"architectures": ["Qwen2ForCausalLM"]',
    ),
    "another setting": (
        change_settings,
        "{1} and {2} differ in the settings: native-high-level.rounds is 3 and 5",
    ),
    "hardware": (
        lambda shard: shard.change_manifest(device=device_of("hardware")),
        "{1} and {2} differ in the kind of device: emulated and hardware",
    ),
    "another chip": (
        lambda shard: shard.change_manifest(
            device=shard.manifest.device.model_copy(update={"dies": (CHIP,)})
        ),
        "{1} and {2} differ in the chip: 910B3 and 310P3",
    ),
    "another library": (
        lambda shard: shard.replace("environment.json", '"0.18.0"', '"0.18.1"'),
        "{1} and {2} differ in what was loaded: vllm is 0.18.0 and 0.18.1",
    ),
    "another CANN": (
        lambda shard: shard.replace("environment.json", IDENTITY, f"{IDENTITY} of another day"),
        f"{{1}} and {{2}} differ in the CANN that was loaded: {IDENTITY} and {IDENTITY} of another day",
    ),
    "an image": (
        lambda shard: shard.put_in_image(),
        '{1} and {2} differ in the image: nothing and {"schema_version": 1, "target": "cann900-vllm018-',
    ),
    "another npu-assay": (change_project, "{1} and {2} differ in npu-assay: commit is "),
    "another division": (
        lambda shard: shard.change_manifest(shard=ShardRecord(index=2, count=3)),
        "{1} is shard 1/2, {2} is shard 2/3: of another division",
    ),
    "the same shard twice": (
        lambda shard: shard.change_manifest(shard=ShardRecord(index=1, count=2)),
        "{1} and {2} are both shard 1/2; each is there once",
    ),
    "no shard": (
        lambda shard: shard.change_manifest(shard=None),
        "{2}: not a shard: the run was not divided, as run --shard I/N does",
    ),
    "an interrupted run": (
        lambda shard: shard.change_manifest(interrupted=True),
        "{2}: the run was interrupted; run this shard again",
    ),
    "a stage that both ran": (
        lambda shard: shard.change_stage(own_stages(1)[0], status=StageStatus.PASS, exit_code=0),
        f"{{1}} and {{2}} both ran stage {own_stages(1)[0]}, which is one shard's",
    ),
    "a stage that none ran": (
        lambda shard: shard.remove_stage(own_stages(2)[0], StageStatus.NOT_RUN, "left out"),
        f"stage {own_stages(2)[0]} was run by none: neither {{1}} nor {{2}}",
    ),
    "a check of the host left out": (
        lambda shard: shard.remove_stage("health", StageStatus.NOT_RUN, "left out"),
        "{2} did not run stage health, which every shard has",
    ),
    "no pipeline file": (
        lambda shard: (shard.root / "inputs/pipeline.toml").unlink(),
        "{2}: inputs/pipeline.toml: can't be read (No such file or directory)",
    ),
    "another pipeline file than the run's": (
        lambda shard: shard.write("inputs/pipeline.toml", "[[stage]]\nname = 'a'\n"),
        "{2}: inputs/pipeline.toml: sha256 is ",
    ),
    "a pipeline file that is none": (
        lambda shard: shard.write("inputs/pipeline.toml", "stage = 1\n"),
        "{2}: inputs/pipeline.toml: not a pipeline file",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_shards_of_different_runs_are_refused(shards, tmp_path, name):
    merged(shards, tmp_path / "good")
    change, message = REFUSED[name]
    change(shards[1])
    shards[1].seal()
    refusal(shards, tmp_path, message)


def refusal(shards: list[OffloadArchive], tmp_path: Path, message: str) -> None:
    """Merging is refused with a line that begins so, and nothing is left."""
    before = sorted(tmp_path.iterdir())
    roots = {str(number): str(shard.root) for number, shard in enumerate(shards, start=1)}
    for number, root in roots.items():
        message = message.replace(f"{{{number}}}", root)
    with pytest.raises(UsageError) as error:
        merged(shards, tmp_path / "bad")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_shard_is_refused(tmp_path):
    shards = plant_shards(tmp_path, 3)
    merged(shards, tmp_path / "good")
    refusal([shards[0], shards[2]], tmp_path, "shard 2 of 3 missing: {1} is 1/3, {2} is 3/3")
    refusal([shards[1]], tmp_path, "shards 1, 3 of 3 missing: {1} is 2/3")


def test_a_shard_that_is_not_as_it_was_sealed_is_refused(shards, tmp_path):
    merged(shards, tmp_path / "good")
    log = shards[1].archive.stage_log("health")
    log.write_text(log.read_text() + "\n")
    refusal(shards, tmp_path, "{2}: not as it was sealed: stages/health.log: changed: sha256 is ")
    shards[1].archive.sums.unlink()
    refusal(shards, tmp_path, "{2}/SHA256SUMS: missing; write it with ")


def test_a_shard_with_a_link_is_refused_and_the_link_never_followed(shards, tmp_path):
    merged(shards, tmp_path / "good")
    (shards[1].root / "stages/out.log").symlink_to("/etc/hostname")
    refusal(shards, tmp_path, "{2}/stages/out.log: not a regular file")


def test_a_merged_archive_is_no_shard(shards, tmp_path):
    root = merged(shards, tmp_path / "good")
    other = plant_shard(tmp_path / "other", 1, 2)
    other.root = root
    refusal([shards[0], other], tmp_path, "{2}: merged already; name the archives")


def test_what_differs_between_hosts_is_no_reason(shards, tmp_path):
    """The kernel, how much memory, the folder of a model, an image's name, what was compiled there."""
    first, second = shards
    host = second.manifest.host.model_copy(update={"kernel": "5.10.0", "cpus": 192, "machine": "aarch64"})
    second.change_manifest(host=host, model=MODEL)
    first.change_manifest(model=MODEL.model_copy(update={"path": "/data/qwen"}))
    first.put_in_image()
    second.change_manifest(image=first.manifest.image.model_copy(update={"reference": "mirror/image"}))
    for number, shard in enumerate(shards):
        change_environment(shard, rebuilt={"vllm_ascend/vllm_ascend_C.so": str(number) * 64})
        shard.change_manifest(
            source=shard.manifest.source.model_copy(update={"given": f"/host{number}/tree"})
        )
        shard.seal()
    record = read_record(merged(shards, tmp_path / "merged") / "merged.json")
    assert [shard.host.kernel for shard in record.shards] == [first.manifest.host.kernel, "5.10.0"]


def test_one_shard_of_one_is_a_whole_run(tmp_path):
    assert (
        len(read_record(merged(plant_shards(tmp_path, 1), tmp_path / "merged") / "merged.json").shards) == 1
    )


def break_off(target: Path, failure: BaseException) -> None:
    with folder_beside(target) as folder:
        (folder / "file").touch()
        raise failure


def test_a_failure_on_the_way_leaves_nothing(tmp_path):
    with folder_beside(tmp_path / "good") as folder:
        (folder / "file").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["good"]
    for failure in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        with pytest.raises(type(failure)):
            break_off(tmp_path / "bad", failure)
        assert [path.name for path in tmp_path.iterdir()] == ["good"]
    with pytest.raises(OSError, match="not empty"), folder_beside(tmp_path / "good"):
        pass
    assert [path.name for path in (tmp_path / "good").iterdir()] == ["file"]


def test_a_shard_that_is_being_written_is_refused(shards, tmp_path):
    merged(shards, tmp_path / "good")
    with writing(shards[1].archive):
        refusal(shards, tmp_path, "{2}: another npu-assay is writing to it; wait until that has ended")
