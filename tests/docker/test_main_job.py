"""The main job in the emulated image, as docs/images.md has it: the archive is the caller's, and verifies."""

import subprocess
import sys
from pathlib import Path

import pytest
from documented_commands import documented_runs
from engine import Engine

from npu_assay.evidence.manifest import read_manifest

pytestmark = [pytest.mark.docker, pytest.mark.e2e, pytest.mark.xdist_group("docker")]

USER = (4321, 4322)


def verify(archive: Path) -> subprocess.CompletedProcess[str]:
    """On the host."""
    command = [sys.executable, "-m", "npu_assay", "verify", "--mode", "emulated", archive]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def owners(folder: Path) -> set[tuple[int, int]]:
    """Users and groups of a folder and all that is in it."""
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in (folder, *folder.rglob("*"))}


def test_a_run_without_network_leaves_an_archive_that_verifies_on_the_host(
    engine: Engine, emulated_image: str, runs: Path
) -> None:
    (command,) = [
        words for words in documented_runs(emulated_image, str(runs.parent)) if "--read-only" in words
    ]
    assert {"--network", "none", "--tmpfs", "run"} <= set(command)
    ended = engine.docker(*command, timeout=900, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (archive,) = runs.iterdir()
    assert owners(archive) == {USER}
    manifest = read_manifest(archive / "manifest.json")
    assert {stage.status for stage in manifest.stages} == {"pass"}
    judged = verify(archive)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    (archive / "stages" / "native-transfer.log").open("ab").write(b"\n")
    judged = verify(archive)
    assert judged.returncode == 1
    assert "stages/native-transfer.log" in judged.stdout


def test_a_run_with_a_network_and_a_root_to_write_to_is_the_callers_too(
    engine: Engine, emulated_image: str, runs: Path
) -> None:
    command = next(
        words
        for words in documented_runs(emulated_image, str(runs.parent))
        if words[-1] == "run" and "--read-only" not in words
    )
    ended = engine.docker(*command, "--stage", "cann", "--stage", "versions-and-paths", check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert owners(runs) == {USER}
    by_root = [*command, "--stage", "cann", "--out", "/npu-assay/runs/of-root"]
    engine.docker(*by_root[:1], "--env", "NPU_ASSAY_USER=0:0", *by_root[1:], check=False)
    assert owners(runs / "of-root") == {(0, 0)}
