"""A run of cheap stages, divided into shards and joined again, from the command line."""

import subprocess
import sys
from pathlib import Path

import pytest
import tomlkit

from npu_assay.environment.environment import Environment
from npu_assay.evidence.manifest import read_manifest
from npu_assay.project import PIPELINES

pytestmark = [pytest.mark.environment, pytest.mark.e2e]

CHEAP = ("build", "health", "ruff", "compileall", "health-after")


def pipeline_file(folder: Path) -> Path:
    """Stages of kv-offload that take a second each."""
    document = tomlkit.parse((PIPELINES / "kv-offload.toml").read_text())
    document["name"] = "cheap"
    document["stage"] = [stage for stage in document["stage"] if stage["name"] in CHEAP]
    path = folder / "cheap.toml"
    path.write_text(tomlkit.dumps(document))
    return path


def assay(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "npu_assay", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_shards_make_one_archive_and_say_what_is_missing(environment: Environment, tmp_path: Path) -> None:
    pipeline = pipeline_file(tmp_path)
    shards = [tmp_path / "first", tmp_path / "second"]
    for number, shard in enumerate(shards, start=1):
        run = assay(
            "run", "--device", "emulated", "--pipeline", pipeline, "--shard", f"{number}/2", "--out", shard
        )
        assert run.returncode == 0, run.stdout + run.stderr
        assert f"EMULATED run of cheap, shard {number}/2: 4 pass, 1 not run\n" in run.stdout

    whole = tmp_path / "whole"
    merged = assay("archive", "merge", *shards, "--out", whole)
    assert merged.returncode == 3, merged.stderr  # nobody published a result of this pipeline
    assert (
        "no published result is known for pipeline cheap"
        in assay("verify", whole, "--mode", "emulated").stdout
    )
    host = read_manifest(shards[0] / "manifest.json").host
    assert merged.stdout.count(host.kernel) == 2

    findings = assay("verify", whole, "--mode", "emulated").stdout.splitlines()
    assert [line for line in findings if line.startswith("fail")] == []
    assert any(line.startswith("pass") and "one run in 2 shards" in line for line in findings)
    assert assay("archive", "check", whole).returncode == 0

    lonely = assay("archive", "merge", shards[0], "--out", tmp_path / "half")
    assert lonely.returncode == 2
    assert lonely.stderr == f"npu-assay: shard 2 of 2 missing: {shards[0]} is 1/2\n"
    empty = assay(
        "run", "--device", "emulated", "--pipeline", pipeline, "--shard", "1/3", "--out", tmp_path / "e"
    )
    assert empty.returncode == 2
    assert "pipeline cheap has 2 stages to divide" in empty.stderr
    assert not (tmp_path / "half").exists()
    assert not (tmp_path / "e").exists()
