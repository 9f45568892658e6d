"""The rules about the run's vllm-ascend: the lock's own and the run's own pass, and each fault is named."""

from collections.abc import Callable

import pytest
from offload_archive import TREE, OffloadArchive, listing_of, load_path, messages
from planted_tests import junit

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.evidence.manifest import StageStatus

PATCHED = TREE | {"vllm_ascend/utils.py": "import torch, os"}
#: Two that pass, and one that skips itself as it is known to.
UNIT_TESTS = {
    "tests.ut.test_utils::test_0": "",
    "tests.ut.test_utils.TestUtils::test_1": "",
    "tests.ut.test_utils.TestUtils::test_enable_custom_op": '<skipped message="Skip as in CANN 8.5.0."/>',
}
PATCHES = {"0001-utils.patch": "the patch", "0002-more.patch": "another"}


@pytest.fixture
def own(offload: OffloadArchive) -> OffloadArchive:
    """A run with --vllm-ascend and two patches."""
    offload.write_tree(PATCHED, PATCHES, base=TREE)
    offload.write_environment(listing_of(PATCHED))
    offload.write_unit_tests(UNIT_TESTS)
    return offload


def test_the_locks_own_passes(offload: OffloadArchive) -> None:
    verdict = offload.verdict()
    assert verdict.result is Result.PASS, messages(verdict, Result.FAIL)
    assert "source/1: native parts: those of the lock's own" in "\n".join(messages(verdict, Result.PASS))


def test_the_runs_own_passes(own: OffloadArchive) -> None:
    verdict = own.verdict()
    assert verdict.result is Result.PASS, messages(verdict, Result.FAIL)
    passed = "\n".join(messages(verdict, Result.PASS))
    assert "source/1: the listing of 8 files is" in passed
    assert "source/1: patch utils.patch is" in passed
    assert "source/1: native parts: 2 files, as the lock's own" in passed
    assert "source/1: the 2 Python files of the package are the tree's" in passed


def test_of_a_link_in_the_package_its_file_is_loaded(own: OffloadArchive) -> None:
    own.write_tree(PATCHED, PATCHES, base=TREE, links={"vllm_ascend/again.py": "utils.py"})
    utils = PATCHED["vllm_ascend/utils.py"]
    own.write_environment(listing_of(PATCHED), **{"vllm_ascend/again.py": utils})
    assert own.verdict().result is Result.PASS, messages(own.verdict(), Result.FAIL)
    own.write_environment(listing_of(PATCHED), **{"vllm_ascend/again.py": "other"})
    assert "source/1: vllm_ascend/again.py: loaded " in "\n".join(messages(own.verdict(), Result.FAIL))


Change = Callable[[OffloadArchive], object]

FAULTS: dict[str, tuple[Change, str]] = {
    "another record": (
        lambda run: run.replace("source/source.json", "/home/me", "/home/you"),
        "source/1: source.json is not what manifest.json says",
    ),
    "a listed file has another hash": (
        lambda run: run.write_tree(PATCHED, PATCHES, base=TREE, tree_sha256="3" * 64),
        "source/1: the listing is ",
    ),
    "the version of another tree": (
        lambda run: run.write_tree(PATCHED, PATCHES, base=TREE, version="0.18.0+tree.000000000000"),
        "source/1: version 0.18.0+tree.000000000000 does not end with +tree.",
    ),
    "one's own that is called the lock's": (
        lambda run: run.write_tree(PATCHED, PATCHES, base=TREE, kind="lock"),
        "source/1: it is called the lock's own, which is 0.18.0 without patches",
    ),
    "the lock's with patches": (
        lambda run: run.write_tree(PATCHED, PATCHES, base=TREE, kind="lock", version="0.18.0"),
        "found 0.18.0, 2 patches",
    ),
    "the lock's with a base": (
        lambda run: run.write_tree(PATCHED, base=TREE, kind="lock", version="0.18.0"),
        "found 0.18.0, 0 patches",
    ),
    "a changed patch": (
        lambda run: run.write("source/patches/0001-utils.patch", "another patch"),
        "source/1: patch utils.patch is ",
    ),
    "a patch is gone": (
        lambda run: (run.root / "source/patches/0001-utils.patch").unlink(),
        "source/1: patch utils.patch is not there, the manifest says",
    ),
    "a patch more": (
        lambda run: run.write("source/patches/0003-x.patch", "x"),
        "source/1: 0003-x.patch: not a patch of the manifest",
    ),
    "the wheel's file was loaded": (
        lambda run: run.write_environment(listing_of(TREE)),
        "source/1: vllm_ascend/utils.py: loaded ",
    ),
    "a file of the tree was not loaded": (
        lambda run: run.write_tree(PATCHED | {"vllm_ascend/new.py": "1"}, PATCHES, base=TREE),
        "source/1: vllm_ascend/new.py: loaded missing, the tree's is ",
    ),
    "a file of something else was loaded": (
        lambda run: run.write_environment(listing_of(PATCHED), **{"vllm_ascend/other.py": ""}),
        "the tree's is not in the tree",
    ),
    "no file is known": (
        lambda run: run.replace("environment.json", "vllm_ascend_files", "files"),
        "source/1: environment.json: expected vllm_ascend_files, with a sha256 of each file",
    ),
    "another version": (
        lambda run: run.replace("stages/versions-and-paths.log", "+tree.", "+tree.9"),
        "versions/3: vllm-ascend: 0.18.0+tree.9",
    ),
    "the lock's version": (
        lambda run: run.replace(
            "stages/versions-and-paths.log",
            f"vllm-ascend {run.manifest.source.version} ",
            "vllm-ascend 0.18.0 ",
        ),
        "versions/3: vllm-ascend: 0.18.0 was loaded, the run asks for 0.18.0+tree.",
    ),
    "no listing": (
        lambda run: (run.root / "source/files.sha256").unlink(),
        "files.sha256: can't be read (No such file or directory)",
    ),
    "no base": (
        lambda run: (run.root / "source/base-native.sha256").unlink(),
        "base-native.sha256: can't be read (No such file or directory)",
    ),
    "a test failed": (
        lambda run: run.write(
            "stages/vllm-ascend-ut.junit.xml",
            junit(UNIT_TESTS | {"tests.ut.test_utils::test_0": "<failure/>"}),
        ),
        "unit-tests/2: vllm-ascend-ut: tests.ut.test_utils::test_0 failed",
    ),
    "a test less by JUnit": (
        lambda run: run.replace("stages/vllm-ascend-ut.log", "2 passed", "3 passed"),
        "unit-tests/2: vllm-ascend-ut: 3 passed, 1 skipped in 0.77s by the log; by JUnit 2 passed, 1 skipped",
    ),
    "no summary": (
        lambda run: run.write("stages/vllm-ascend-ut.log", "package: /x/__init__.py\n"),
        "unit-tests/2: vllm-ascend-ut: no summary line of pytest in the log",
    ),
    "another package was tested": (
        lambda run: run.replace(
            "stages/vllm-ascend-ut.log", load_path("vllm-ascend"), "/tree/vllm_ascend/__init__.py"
        ),
        "unit-tests/2: vllm-ascend-ut: tested /tree/vllm_ascend/__init__.py, the run's is /home/me/",
    ),
}


@pytest.mark.parametrize(("change", "says"), FAULTS.values(), ids=FAULTS)
def test_each_fault_is_a_failure(own: OffloadArchive, change: Change, says: str) -> None:
    assert own.verdict().result is Result.PASS
    change(own)
    verdict = own.verdict()
    assert verdict.result is Result.FAIL
    assert says in "\n".join(messages(verdict, Result.FAIL))


SKIP = '<skipped type="pytest.skip" message="no NPU"/>'
UNKNOWN: dict[str, tuple[Change, str]] = {
    "csrc differs": (
        lambda run: run.write_tree(
            PATCHED | {"csrc/ops.cpp": "int main() {}"},
            PATCHES,
            base=TREE,
        ),
        "source/1: csrc/ops.cpp differs from the lock's own, whose compiled parts ran",
    ),
    "csrc has a file more": (
        lambda run: run.write_tree(PATCHED | {"csrc/new.cpp": ""}, PATCHES, base=TREE),
        "source/1: csrc/new.cpp differs from the lock's own",
    ),
    "an unknown skip": (
        lambda run: run.write_unit_tests(UNIT_TESTS | {"tests.ut.test_utils::test_0": SKIP}),
        "unit-tests/2: vllm-ascend-ut: tests.ut.test_utils::test_0 skipped, not known to be: no NPU",
    ),
    "a file of tests was left out": (
        lambda run: run.write_tree(
            PATCHED | {"tests/ut/test_new.py": "def test(): pass"},
            PATCHES,
            base=TREE,
        ),
        "unit-tests/2: vllm-ascend-ut: no tests of tests/ut/test_new.py were run",
    ),
}


@pytest.mark.parametrize(("change", "says"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_was_not_tried_is_inconclusive(own: OffloadArchive, change: Change, says: str) -> None:
    assert own.verdict().result is Result.PASS
    change(own)
    verdict = own.verdict()
    assert verdict.result is Result.INCONCLUSIVE, messages(verdict, Result.FAIL)
    assert says in "\n".join(messages(verdict, Result.INCONCLUSIVE))


def test_submodules_that_only_one_side_has_are_no_difference(own: OffloadArchive) -> None:
    assert own.verdict().result is Result.PASS
    submodule = {"csrc/third_party/catlass/a.h": "a"}
    own.write_tree(PATCHED | submodule, PATCHES, base=TREE)
    assert own.verdict().result is Result.PASS
    own.write_tree(PATCHED | submodule, PATCHES, base=TREE | {"csrc/third_party/catlass/a.h": "b"})
    assert own.verdict().result is Result.INCONCLUSIVE


def test_a_wheel_brings_no_tests(own: OffloadArchive) -> None:
    assert own.verdict().result is Result.PASS
    wheel = {name: text for name, text in PATCHED.items() if name.startswith("vllm_ascend/")}
    own.write_tree(wheel, base={}, kind="wheel")
    for file in own.root.glob("source/patches/*"):
        file.unlink()
    own.write("stages/vllm-ascend-ut.log", "inconclusive: a wheel brings no tests\n")
    (own.root / "stages/vllm-ascend-ut.junit.xml").unlink()
    own.change_stage("vllm-ascend-ut", status=StageStatus.INCONCLUSIVE, exit_code=3)
    verdict = own.verdict()
    assert verdict.result is Result.INCONCLUSIVE, messages(verdict, Result.FAIL)
    assert "unit-tests/2: vllm-ascend-ut: the tree has no tests/ut/" in "\n".join(
        messages(verdict, Result.INCONCLUSIVE)
    )


def test_tests_that_were_not_run_are_inconclusive_and_limited_mode_says_so(own: OffloadArchive) -> None:
    assert own.verdict().result is Result.PASS
    own.remove_stage("vllm-ascend-ut", StageStatus.NOT_RUN, "not asked for")
    assert own.verdict().result is Result.INCONCLUSIVE
    assert own.verdict(Mode.LIMITED).result is Result.PASS
