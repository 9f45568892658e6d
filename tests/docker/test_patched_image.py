"""Images with a vllm-ascend of their own: a patch, a folder, a commit; and a patch that does not apply."""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from build_steps import made_anew
from engine import Build, Engine
from planted_source import checkout, commit, git

from npu_assay.digest import sha256_of

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

TARGET = "cann900-vllm018-emulated-x86_64"
USER = (4321, 4322)
#: As docs/images.md says; the image has all that a run without options needs.
READ_ONLY = ("--network", "none", "--read-only", "--tmpfs", "/tmp:exec")
HARMLESS = "--- /dev/null\n+++ b/vllm_ascend/harmless.py\n@@ -0,0 +1 @@\n+ANSWER = 42\n"
BAD = "--- a/vllm_ascend/utils.py\n+++ b/vllm_ascend/utils.py\n@@ -7,1 +7,1 @@\n-not in there\n+other\n"


def unseen() -> str:
    """A harmless patch that no build has seen, whatever an engine remembers of earlier tests."""
    return HARMLESS.replace("42", str(uuid4().int))


class OwnImages:
    """Builds of the default target with a vllm-ascend of their own, and runs in them."""

    def __init__(self, engine: Engine, offline: dict[str, str]) -> None:
        self.engine = engine
        self.offline = offline

    def build(self, variables: dict[str, str], *sets: str, network: str = "none") -> Build:
        return self.engine.bake(TARGET, {**self.offline, **variables}, sets, network=network)

    def good(self, variables: dict[str, str], *sets: str, network: str = "none") -> Build:
        build = self.build(variables, *sets, network=network)
        assert build.returncode == 0, build.log[-4000:]
        return build

    def run(self, image: str, runs: Path, *arguments: str) -> Path:
        """The archive of a run without network in a read-only root, made by root for the owner of `runs`."""
        options = [*READ_ONLY, "-v", f"{runs}:/npu-assay/runs"]
        ended = self.engine.run(image, "run", *arguments, options=options, check=False, timeout=900)
        assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]
        (archive,) = runs.iterdir()
        return archive

    def cat(self, image: str, *files: str) -> str:
        """What of the image's files is there, one after the other."""
        return self.engine.run(image, *files, options=["--entrypoint", "cat"]).stdout


@pytest.fixture
def own(engine: Engine, emulated_build: Build, offline: dict[str, str]) -> OwnImages:
    """Beside the image with the lock's own, which is what a build takes all other layers from."""
    return OwnImages(engine, offline)


def source_of(archive: Path) -> dict[str, Any]:
    """source.json."""
    record: dict[str, Any] = json.loads((archive / "source/source.json").read_bytes())
    return record


def verify(archive: Path) -> subprocess.CompletedProcess[str]:
    """On the host."""
    command = [sys.executable, "-m", "npu_assay", "verify", "--mode", "emulated", archive]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def patches(tmp_path: Path) -> Path:
    """A folder with a patch that nobody but its owner may read."""
    folder = tmp_path / "patches"
    folder.mkdir()
    (folder / "0001-harmless.patch").write_text(HARMLESS)
    (folder / "0001-harmless.patch").chmod(0o600)
    return folder


@pytest.mark.e2e
def test_an_image_with_a_patch_does_the_main_job_and_a_line_more_makes_only_its_layers_anew(
    own: OwnImages, patches: Path, runs: Path
) -> None:
    patch = patches / "0001-harmless.patch"
    patch.write_text(unseen())
    first = own.good({"PATCHES": str(patches)})
    assert made_anew(first.log) == {"source", "image"}
    patch.write_text(unseen())
    second = own.good({"PATCHES": str(patches)})
    assert made_anew(second.log) == {"source", "image"}
    assert made_anew(own.good({"PATCHES": str(patches)}).log) == set()

    archive = own.run(second.image, runs)
    assert {(path.stat().st_uid, path.stat().st_gid) for path in runs.rglob("*")} == {USER}
    record = source_of(archive)
    assert (record["kind"], [one["sha256"] for one in record["patches"]]) == ("sdist", [sha256_of(patch)])
    assert (archive / "source/patches" / record["patches"][0]["file"]).read_bytes() == patch.read_bytes()
    assert "vllm_ascend/harmless.py" in (archive / "environment.json").read_text()
    assert verify(archive).returncode == 0
    (archive / "source/patches" / record["patches"][0]["file"]).write_text(HARMLESS)
    assert verify(archive).returncode == 1


def test_a_patch_that_does_not_apply_stops_the_build_and_names_the_hunk(
    own: OwnImages, patches: Path
) -> None:
    (patches / "0002-bad.patch").write_text(BAD)
    build = own.build({"PATCHES": str(patches)})
    assert build.returncode != 0
    end = build.log.splitlines()[-40:]
    (line,) = [line for line in end if re.match(r"\d+\.\d+ npu-assay: ", line)]
    assert "--patch /opt/npu-assay/own/patches/0002-bad.patch: does not apply to vllm_ascend/utils.py" in line
    assert "hunk 1: @@ -7,1 +7,1 @@: its context is not there" in line
    assert any(line.endswith("did not complete successfully: exit code: 2") for line in end[-3:])


def test_a_folder_is_on_record_with_its_commit_and_what_is_ignored_stays_outside(
    own: OwnImages, emulated_image: str, runs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "vllm-ascend"
    made = own.engine.docker("create", emulated_image).stdout.strip()
    own.engine.docker("cp", f"{made}:/opt/npu-assay/cache/trees/.", tmp_path / "trees")
    own.engine.docker("rm", made)
    (tree,) = (tmp_path / "trees").glob("*/tree")
    shutil.copytree(tree, folder, symlinks=True)
    (folder / ".gitignore").write_text("*.log\n")
    head = checkout(folder, {}, tag="v0.18.0") and git(folder, "rev-parse", "HEAD")
    (folder / "build.log").write_text("junk")
    (folder / "vllm_ascend/mine.py").write_text("MINE = True\n")
    build = own.good({"VLLM_ASCEND": str(folder)})
    assert made_anew(build.log) == {"exported", "source", "image"}

    record = source_of(own.run(build.image, runs, "--stage", "build", "--stage", "versions-and-paths"))
    assert (record["kind"], record["commit"], record["dirty"]) == ("folder", head, True)
    assert (record["given"], record["version_from"]) == ("/context/vllm-ascend", "tag v0.18.0")
    names = ["-name", ".git", "-o", "-name", "build.log", "-o", "-name", "mine.py"]
    look = ["/opt/npu-assay/own", "(", *names, ")"]
    found = own.engine.run(build.image, *look, options=["--entrypoint", "find"])
    assert found.stdout.split() == ["/opt/npu-assay/own/vllm-ascend/tree/vllm_ascend/mine.py"]

    # Without .git it is the same folder, and nobody can say which commit it is.
    (folder / ".dockerignore").write_text(".git\n")
    build = own.good({"VLLM_ASCEND": str(folder)}, "*.target=exported")
    origin = json.loads(own.cat(build.image, "/exported/origin.json"))
    assert (origin["commit"], origin["dirty"]) == (None, None)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """git's own server for the repositories in a folder, on the loopback: the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["git", "daemon", f"--base-path={folder}", "--export-all", "--listen=127.0.0.1"]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([*command, f"--port={port}"], stdout=log, stderr=log)
        try:
            for _ in range(100):
                with socket.socket() as asking:
                    if asking.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert server.poll() is None
                time.sleep(0.1)
            yield f"git://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def test_a_branch_is_on_record_with_its_commit(own: OwnImages, tmp_path: Path) -> None:
    upstream = checkout(tmp_path / "vllm-ascend")
    head = commit(upstream)
    with served(tmp_path) as address:
        source = f"git+{address}/vllm-ascend@main"
        build = own.good({"VLLM_ASCEND": source}, "*.target=exported", network="host")
        gone = own.build(
            {"VLLM_ASCEND": source.replace("@main", "@gone")}, "*.target=exported", network="host"
        )
    origin = json.loads(own.cat(build.image, "/exported/origin.json"))
    assert (origin["kind"], origin["given"], origin["commit"]) == ("git", source, head)
    assert (origin["dirty"], origin["tag"]) == (False, "v0.18.0")
    assert gone.returncode != 0
    assert "@gone: couldn't find remote ref gone; name a branch, a tag or a full commit id" in gone.log
