"""`npu-assay archive merge`, and what the other commands make of a merged archive."""

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result
from planted_shards import plant_shards, whose

from npu_assay.cli import cli
from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import StageStatus
from npu_assay.evidence.merged import merge as merge_module
from npu_assay.report.derived import derive


@pytest.fixture
def shards(tmp_path):
    planted = plant_shards(tmp_path)
    for shard in planted:
        derive(shard.root)
    return planted


def assay(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_merged_shards_say_who_ran_what_and_pass(shards, tmp_path):
    out = tmp_path / "merged"
    done = assay("archive", "merge", shards[0].root, shards[1].root, "--out", out)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].split() == ["shard", "host", "stages", "seconds"]
    assert lines[1].startswith("1/2 ")
    assert shards[0].manifest.host.system.split()[0] in lines[1]
    assert any(line.startswith("verdict: EMULATED pass (") for line in lines)
    assert lines[-1] == f"archive: {out}"

    judged = assay("verify", out, "--mode", "emulated")
    assert judged.exit_code == 0, judged.output
    assert "shards/1-of-2: statement.intoto.json: derived again, byte for byte" in judged.output
    assert assay("verify", out).exit_code == 1
    assert assay("archive", "check", out).exit_code == 0
    for index in (1, 2):
        assert f"## What was run in shard {index}/2\n" in (out / "report.md").read_text()
    statement = (out / "statement.intoto.json").read_bytes()
    assert "emulated/stage/native-high-level" in json.loads(statement)["predicate"]["passedTests"]

    before = (out / "SHA256SUMS").read_bytes()
    assert assay("archive", "sums", out).exit_code == 0
    assert ((out / "SHA256SUMS").read_bytes(), (out / "statement.intoto.json").read_bytes()) == (
        before,
        statement,
    )


def test_a_merged_archive_that_fails_is_exit_1_and_is_there(shards, tmp_path):
    good = assay("archive", "merge", *(shard.root for shard in shards), "--out", tmp_path / "good")
    assert good.exit_code == 0
    shard = shards[whose("ruff") - 1]
    shard.change_stage("ruff", status=StageStatus.FAIL, exit_code=1, reason="exit code 1")
    shard.seal()
    derive(shard.root)
    out = tmp_path / "bad"
    done = assay("archive", "merge", *(shard.root for shard in shards), "--out", out)
    assert done.exit_code == 1
    assert f"shards/{whose('ruff')}-of-2: ruff: fail, exit code 1\n" in done.output
    assert f"each finding: npu-assay verify --mode emulated {out}\n" in done.output
    assert assay("verify", out, "--mode", "emulated").exit_code == 1


def test_a_lying_statement_of_a_shard_is_found(shards, tmp_path):
    out = tmp_path / "merged"
    assert assay("archive", "merge", *(shard.root for shard in shards), "--out", out).exit_code == 0
    assert assay("verify", out, "--mode", "emulated").exit_code == 0
    statement = out / "shards/2-of-2/statement.intoto.json"
    statement.write_text(statement.read_text().replace('"WARNED"', '"PASSED"'))
    assert assay("archive", "sums", out).exit_code == 0
    judged = assay("verify", out, "--mode", "emulated")
    assert judged.exit_code == 1
    assert "shards/2-of-2: statement.intoto.json: not the bytes that are derived" in judged.output


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("full", "not empty; an archive needs a new folder, choose another with --out"),
        ("file", "not empty; an archive needs a new folder"),
        ("1", "not empty"),
        ("1/inside", "inside of "),
    ],
)
def test_where_no_merged_archive_can_be_is_said_before_anything_is_copied(shards, tmp_path, out, message):
    roots = [shard.root for shard in shards]
    (tmp_path / "empty").mkdir()
    assert assay("archive", "merge", *roots, "--out", tmp_path / "empty").exit_code == 0
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    refused = assay("archive", "merge", *roots, "--out", tmp_path / out)
    assert isinstance(refused.exception, UsageError)
    assert message in str(refused.exception)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_is_no_archive_is_named(shards, tmp_path):
    assert assay("archive", "merge", *(s.root for s in shards), "--out", tmp_path / "good").exit_code == 0
    (tmp_path / "other").mkdir()
    refused = assay("archive", "merge", shards[0].root, tmp_path / "other", "--out", tmp_path / "bad")
    assert str(refused.exception).startswith(f"{tmp_path}/other: no manifest.json, so no run archive")
    assert not (tmp_path / "bad").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk; a failure is tested for all")
def test_a_full_disk_is_exit_4_and_leaves_nothing(shards, tmp_path):
    words = ["archive", "merge", *(str(shard.root) for shard in shards), "--out"]
    assert assay(*words, tmp_path / "good").exit_code == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=True)
    try:
        command = [sys.executable, "-m", "npu_assay", *words, str(disk / "merged")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 4
        assert "No space left on device" in done.stderr
        assert done.stderr.count("\n") == 1
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_ctrl_c_leaves_nothing(shards, tmp_path, monkeypatch):
    words = ["archive", "merge", *(str(shard.root) for shard in shards), "--out"]
    assert assay(*words, tmp_path / "good").exit_code == 0
    before = sorted(tmp_path.iterdir())

    def stopped(*arguments: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(merge_module, "seal", stopped)
    assay(*words, tmp_path / "bad")
    assert sorted(tmp_path.iterdir()) == before
