"""A vllm-ascend of one's own through the pipeline: what is harmless stays green, and each fault is found.

The patches are made here, from the lock's own sources, so that none of upstream's lines stands in a file.
"""

import difflib
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from npu_assay.digest import sha256_of
from npu_assay.environment.ascend_build.locked import make_locked_tree
from npu_assay.environment.environment import Environment
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest

pytestmark = [pytest.mark.environment, pytest.mark.e2e, pytest.mark.xdist_group("own-vllm-ascend")]

HANDLER = "vllm_ascend/kv_offload/cpu_npu.py"
HARMLESS = "# a line more\n"
#: The handler reports transfers, and copies nothing.
BROKEN_HANDLER = """
def _report_only(self, job_id, spec):
    event = torch.npu.Event()
    event.record()
    self.transfer_events[job_id] = event
    return True


CpuNpuOffloadingHandler.transfer_async = _report_only
"""
#: A function that tests/ut/test_utils.py tests.
BROKEN_UTILITY = "\n\ndef find_hccl_library():\n    return 'another library'\n"


@dataclass(frozen=True)
class Ended:
    """A run from the command line."""

    code: int
    out: str
    err: str
    archive: Path

    @property
    def manifest(self) -> Manifest:
        return read_manifest(self.archive / "manifest.json")

    def status(self, stage: str) -> StageStatus:
        record = self.manifest.stage(stage)
        assert record is not None
        return record.status


class Assay:
    """Runs the pipeline with a patch that is made from lines to add to a file."""

    def __init__(self, sources: Path, folder: Path) -> None:
        self.sources = sources
        self.folder = folder

    def patch(self, name: str, more: str, *, assumed: str = "") -> Path:
        """A patch that adds lines to the end of a file, and assumes one there already that is not."""
        old = [*(self.sources / name).read_text().splitlines(keepends=True), *[assumed] * bool(assumed)]
        lines = difflib.unified_diff(old, [*old, *more.splitlines(keepends=True)], f"a/{name}", f"b/{name}")
        path = self.folder / "change.patch"
        path.write_text("".join(lines))
        return path

    def run(self, *options: str | Path, stages: tuple[str, ...] = ()) -> Ended:
        archive = self.folder / "run"
        words = [word for stage in stages for word in ("--stage", stage)]
        command = [sys.executable, "-m", "npu_assay", "run", "--device", "emulated", "--out", archive]
        ended = subprocess.run([*command, *words, *options], capture_output=True, text=True, check=False)
        return Ended(ended.returncode, ended.stdout, ended.stderr, archive)


@pytest.fixture
def assay(environment: Environment, tmp_path: Path) -> Assay:
    return Assay(make_locked_tree(environment, print).files, tmp_path)


@pytest.fixture(scope="module")
def harmless(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The whole pipeline with a line more: the good case of every test here."""
    assay = Assay(make_locked_tree(environment, print).files, tmp_path_factory.mktemp("harmless"))
    return assay.run("--patch", assay.patch(HANDLER, HARMLESS))


def test_a_harmless_line_runs_green_and_its_hash_is_on_record(assay: Assay, harmless: Ended) -> None:
    patch, ended = assay.patch(HANDLER, HARMLESS), harmless
    assert ended.code == 0, f"{ended.out[-4000:]}{ended.err[-2000:]}"
    assert "verdict: EMULATED pass" in ended.out
    source = ended.manifest.source
    assert [(one.name, one.sha256) for one in source.patches] == [("change.patch", sha256_of(patch))]
    assert source.version == f"0.18.0+tree.{source.tree_sha256[:12]}"
    package = json.loads((ended.archive / "environment.json").read_text())["vllm_ascend_files"]
    patched = (assay.sources / HANDLER).read_bytes() + HARMLESS.encode()
    assert package[HANDLER] == hashlib.sha256(patched).hexdigest()
    copy = shutil.copytree(ended.archive, assay.folder / "copy")
    command = [sys.executable, "-m", "npu_assay", "verify", copy, "--mode", "emulated"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0

    # The wheel's file in place of the patched one: what was loaded is no longer the tree's.
    listed = f'"{HANDLER}": "{package[HANDLER]}"'
    facts = copy / "environment.json"
    facts.write_text(
        facts.read_text().replace(listed, f'"{HANDLER}": "{sha256_of(assay.sources / HANDLER)}"')
    )
    sums = [sys.executable, "-m", "npu_assay", "archive", "sums", copy]
    assert subprocess.run(sums, check=False, capture_output=True).returncode == 0
    verdict = subprocess.run(command, check=False, capture_output=True, text=True)
    assert verdict.returncode == 1
    assert f"{HANDLER}: loaded " in verdict.stdout


#: What runs on the tree in half a minute.
SHORT = ("build", "versions-and-paths", "ruff", "compileall", "native-transfer")


def test_a_handler_that_copies_nothing_turns_the_transfers_red_and_nothing_else(
    assay: Assay, harmless: Ended
) -> None:
    assert {harmless.status(stage) for stage in SHORT} == {StageStatus.PASS}
    ended = assay.run("--patch", assay.patch(HANDLER, BROKEN_HANDLER), stages=SHORT)
    assert ended.code == 1, ended.out
    assert {stage: ended.status(stage) for stage in SHORT} == {
        "build": StageStatus.PASS,
        "versions-and-paths": StageStatus.PASS,
        "ruff": StageStatus.PASS,
        "compileall": StageStatus.PASS,
        "native-transfer": StageStatus.FAIL,
    }
    record = ended.manifest.stage("native-transfer")
    assert record is not None
    assert "2 failed: native_transfer.test_upstreams_handler::" in record.reason.replace("suites.", "")


def test_the_trees_own_tests_run_on_the_patched_tree(assay: Assay, harmless: Ended) -> None:
    log = (harmless.archive / "stages/vllm-ascend-ut.log").read_text()
    assert "645 passed, 23 skipped" in log
    assert "/builds/" in log.partition("\n")[0]
    stages = ("build", "vllm-ascend-ut")
    bad = assay.run("--patch", assay.patch("vllm_ascend/utils.py", BROKEN_UTILITY), stages=stages)
    assert bad.code == 1, bad.out
    assert (bad.status("build"), bad.status("vllm-ascend-ut")) == (StageStatus.PASS, StageStatus.FAIL)
    assert (
        "FAILED tests/ut/test_utils.py::TestUtils::test_find_hccl_library"
        in (bad.archive / "stages/vllm-ascend-ut.log").read_text()
    )


def test_a_change_of_csrc_is_not_tried_on_the_emulator_and_that_is_said(
    assay: Assay, harmless: Ended
) -> None:
    assert harmless.status("build") is StageStatus.PASS
    patch = assay.patch("csrc/torch_binding.cpp", "// a line more\n")
    ended = assay.run("--patch", patch, stages=("build", "versions-and-paths"))
    assert ended.code == 3, ended.out
    assert ended.status("build") is StageStatus.INCONCLUSIVE
    assert ended.status("versions-and-paths") is StageStatus.PASS
    log = (ended.archive / "stages/build.log").read_text()
    assert "native parts differ from the lock's own: csrc/torch_binding.cpp; the emulator runs" in log


def test_a_patch_that_does_not_apply_is_bad_input_with_its_hunk_and_leaves_no_archive(
    assay: Assay, harmless: Ended
) -> None:
    assert harmless.archive.exists()
    patch = assay.patch(HANDLER, HARMLESS, assumed="# a line that is not there\n")
    (header,) = (line for line in patch.read_text().splitlines() if line.startswith("@@ "))
    ended = assay.run("--patch", patch)
    assert ended.code == 2, ended.out
    assert f"--patch {patch}: does not apply to {HANDLER}, hunk 1: {header}: its context" in ended.err
    assert not ended.archive.exists()


def test_sources_without_a_build_stage_are_built_all_the_same(assay: Assay) -> None:
    """With --stage, and in a pipeline file of one's own: what is not built never runs as the wheel's code."""
    patch = assay.patch("vllm_ascend/envs.py", "A_LINE_MORE = True\n")
    pipeline = assay.folder / "own.toml"
    program = "import vllm_ascend.envs as e; raise SystemExit(0 if e.A_LINE_MORE else 5)"
    pipeline.write_text(
        f'name = "own"\n[vllm-ascend]\npatches = ["{patch.name}"]\n'
        f'[[stage]]\nname = "line"\ncommand = ["{{python}}", "-c", "{program}"]\ntimeout = 60\n'
    )
    ended = assay.run("--pipeline", pipeline)
    assert ended.code == 0, ended.out
    assert [one.name for one in ended.manifest.source.patches] == [patch.name]
    (assay.folder / "run").rename(assay.folder / "first")
    pipeline.write_text(pipeline.read_text().replace(f'"{patch.name}"', ""))
    assert assay.run("--pipeline", pipeline).code == 1
