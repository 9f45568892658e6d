"""A merged archive is judged as one run: by every shard's rules, and by whether the shards are one run's."""

import json
import re
import shutil
from pathlib import Path

import pytest
from offload_archive import IDENTITY, OffloadArchive, device_of, messages
from planted_shards import merged, own_stages, plant_shards, whose

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import verify
from npu_assay.evidence.archive import Archive, seal
from npu_assay.evidence.manifest import ShardRecord, StageStatus, read_manifest, write_manifest


@pytest.fixture
def root(tmp_path) -> Path:
    """A merged archive."""
    return merged(plant_shards(tmp_path), tmp_path / "merged")


class Forgery:
    """A merged archive that is changed, and sealed again all over."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def shard(self, index: int) -> Archive:
        return Archive(self.root / f"shards/{index}-of-2")

    def change_manifest(self, index: int, **changes: object) -> None:
        archive = self.shard(index)
        write_manifest(archive.manifest, read_manifest(archive.manifest).model_copy(update=changes))

    def change_stage(self, index: int, name: str, **changes: object) -> None:
        stages = read_manifest(self.shard(index).manifest).stages
        changed = tuple(stage.model_copy(update=changes) if stage.name == name else stage for stage in stages)
        self.change_manifest(index, stages=changed)

    def seal(self) -> None:
        for archive in (self.shard(1), self.shard(2), Archive(self.root)):
            if archive.root.is_dir():
                seal(archive)


def test_a_good_merged_archive_passes_and_says_which_host_ran_what(root):
    verdict = verify(root, Mode.EMULATED)
    assert messages(verdict, Result.FAIL) == messages(verdict, Result.INCONCLUSIVE) == []
    assert verdict.result is Result.PASS
    assert verdict.line.startswith("verdict: EMULATED pass (")
    (said,) = (line for line in messages(verdict, Result.PASS) if line.startswith("shards/1: "))
    assert said.startswith("shards/1: one run in 2 shards: 1/2 on ")
    first = ", ".join(["cann", "build", "versions-and-paths", "health", *own_stages(1), "health-after"])
    assert f"ran {first}; 2/2 on" in said


def test_findings_name_the_shard_and_the_place_in_the_merged_archive(root):
    verdict = verify(root, Mode.EMULATED)
    here, there = whose("ruff"), 3 - whose("ruff")
    folder = f"shards/{here}-of-2"
    (ruff,) = (line for line in messages(verdict, Result.PASS) if f": {folder}: ruff: pass" in line)
    assert ruff.startswith("stages/")
    assert ruff.endswith(f" {folder}/stages/ruff.log")
    elsewhere = f"shards/{there}-of-2: ruff: not run, not a stage of shard {there}/2; {folder} ran it"
    assert any(elsewhere in line for line in messages(verdict, Result.NOT_APPLICABLE))


def test_one_shard_alone_is_no_published_result(root):
    assert verify(root, Mode.EMULATED).result is Result.PASS
    for index in (1, 2):
        alone = root / f"shards/{index}-of-2"
        assert verify(alone, Mode.EMULATED).result is Result.INCONCLUSIVE
        assert verify(alone, Mode.LIMITED).result is Result.PASS


def test_formal_mode_refuses_an_emulated_merged_archive_in_one_line(root):
    assert verify(root, Mode.EMULATED).result is Result.PASS
    verdict = verify(root, Mode.FORMAL)
    assert (verdict.result, len(verdict.findings), verdict.emulated) == (Result.FAIL, 1, True)
    assert "shards/1-of-2: the run was emulated" in messages(verdict, Result.FAIL)[0]


def rename_shard(forgery: Forgery) -> None:
    (forgery.root / "shards/2-of-2").rename(forgery.root / "shards/3-of-2")


def swap_shards(forgery: Forgery) -> None:
    shards = forgery.root / "shards"
    (shards / "1-of-2").rename(shards / "x")
    (shards / "2-of-2").rename(shards / "1-of-2")
    (shards / "x").rename(shards / "2-of-2")


def edit_record(forgery: Forgery) -> None:
    path = forgery.root / "merged.json"
    document = json.loads(path.read_text())
    document["shards"][0]["host"]["machine"] = "s390x"
    path.write_text(json.dumps(document, indent=2) + "\n")


def edit_junit(forgery: Forgery) -> None:
    path = forgery.root / "junit.xml"
    path.write_text(path.read_text().replace('name="ruff"', 'name="rough"'))


def other_pipeline(forgery: Forgery) -> None:
    archive = forgery.shard(2)
    archive.pipeline.write_text(archive.pipeline.read_text() + "# changed\n")


def other_cann(forgery: Forgery) -> None:
    path = forgery.shard(2).environment
    before = path.read_text()
    path.write_text(before.replace(IDENTITY, f"{IDENTITY} of another day"))
    assert path.read_text() != before


FORGED = {
    "a shard taken out": (
        lambda forgery: shutil.rmtree(forgery.root / "shards/2-of-2"),
        "shard 2 of 2 missing: shards/1-of-2 is 1/2",
    ),
    "all shards taken out": (lambda forgery: shutil.rmtree(forgery.root / "shards"), "no shard at all"),
    "a shard renamed": (rename_shard, "shards/3-of-2 is shard 2/2, whose place is shards/2-of-2"),
    "shards swapped": (swap_shards, "shards/1-of-2 is shard 2/2, whose place is shards/2-of-2"),
    "one shard for the other": (
        lambda forgery: forgery.change_manifest(2, shard=ShardRecord(index=1, count=2)),
        "shards/1-of-2 and shards/2-of-2 are both shard 1/2",
    ),
    "a shard of another division": (
        lambda forgery: forgery.change_manifest(2, shard=ShardRecord(index=2, count=3)),
        "shards/1-of-2 is shard 1/2, shards/2-of-2 is shard 2/3: of another division",
    ),
    "a run that was not divided": (
        lambda forgery: forgery.change_manifest(2, shard=None),
        "shards/2-of-2: not a shard",
    ),
    "another kind of device": (
        lambda forgery: forgery.change_manifest(2, device=device_of("hardware")),
        "differ in the kind of device: emulated and hardware",
    ),
    "another CANN": (other_cann, "differ in the CANN that was loaded"),
    "another pipeline": (other_pipeline, "shards/2-of-2: inputs/pipeline.toml: sha256 is "),
    "other settings": (
        lambda forgery: forgery.change_stage(
            2, "native-high-level", settings={"rounds": 2, "prompt_tokens": 300}
        ),
        "differ in the settings: native-high-level.rounds is 3 and 2",
    ),
    "a stage that none ran": (
        lambda forgery: forgery.change_stage(
            whose("ruff"), "ruff", status=StageStatus.NOT_RUN, exit_code=None
        ),
        "stage ruff was run by none",
    ),
    "a stage that both ran": (
        lambda forgery: forgery.change_stage(3 - whose("ruff"), "ruff", status=StageStatus.PASS, exit_code=0),
        "both ran stage ruff, which is one shard's",
    ),
    "an interrupted shard": (
        lambda forgery: forgery.change_manifest(1, interrupted=True),
        "shards/1-of-2: the run was interrupted",
    ),
    "merged.json edited": (edit_record, "merged.json: not what archive merge makes of the shards"),
    "junit.xml edited": (edit_junit, "junit.xml: not what archive merge makes of the shards"),
    "a manifest of its own": (
        lambda forgery: shutil.copy(forgery.shard(1).manifest, forgery.root / "manifest.json"),
        "manifest.json: no part of a merged archive",
    ),
    "a file among the shards": (
        lambda forgery: (forgery.root / "shards/more").write_text("x"),
        "shards/more: no part of a merged archive",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_merge_refuses_fails_even_when_all_is_sealed_again(root, name):
    assert verify(root, Mode.EMULATED).result is Result.PASS
    forge, message = FORGED[name]
    forgery = Forgery(root)
    forge(forgery)
    forgery.seal()
    verdict = verify(root, Mode.EMULATED)
    assert verdict.result is Result.FAIL
    assert any(message in line for line in messages(verdict, Result.FAIL) if line.startswith("shards/1: "))
    assert [line for line in messages(verdict, Result.FAIL) if line.startswith("integrity/")] == []


@pytest.mark.parametrize("seal_again", [False, True])
def test_a_changed_byte_in_a_shard_is_found(root, seal_again):
    assert verify(root, Mode.EMULATED).result is Result.PASS
    folder = f"shards/{whose('unit')}-of-2"
    log = root / folder / "stages/unit.log"
    before = log.read_text()
    log.write_text(re.sub(r"\b\d+ passed", "1 passed", before))
    assert log.read_text() != before
    if seal_again:
        Forgery(root).seal()
    verdict = verify(root, Mode.EMULATED)
    assert verdict.result is Result.FAIL
    integrity = [line for line in messages(verdict, Result.FAIL) if line.startswith("integrity/")]
    assert [line.split()[1] for line in integrity] == (
        [] if seal_again else [f"{folder}/stages/unit.log:", f"{folder}:"]
    )
    assert any(f"{folder}/stages/unit.log" in line for line in messages(verdict, Result.FAIL))


def test_a_link_in_a_shard_is_never_opened(root):
    assert verify(root, Mode.EMULATED).result is Result.PASS
    manifest = root / "shards/1-of-2/manifest.json"
    manifest.unlink()
    manifest.symlink_to("/dev/zero")
    verdict = verify(root, Mode.EMULATED)
    assert verdict.result is Result.FAIL
    assert "shards/1-of-2/manifest.json: not a regular file" in messages(verdict, Result.FAIL)[0]


def test_a_stage_that_fails_in_one_shard_fails_the_whole(tmp_path):
    shards: list[OffloadArchive] = plant_shards(tmp_path)
    assert verify(merged(shards, tmp_path / "good"), Mode.EMULATED).result is Result.PASS
    shard = shards[whose("ruff") - 1]
    shard.change_stage("ruff", status=StageStatus.FAIL, exit_code=1, reason="exit code 1")
    shard.seal()
    verdict = verify(merged(shards, tmp_path / "bad"), Mode.EMULATED)
    assert verdict.result is Result.FAIL
    assert any("-of-2: ruff: fail" in line for line in messages(verdict, Result.FAIL))
