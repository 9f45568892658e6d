"""The suite vllm-ascend-ut, on small trees: what is ignored, skipped and missing is said, and judged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import vllm_ascend_ut

from npu_assay.claims.unit_test_data import known_tests

TEST = "import pytest\ndef test_good(): pass\n"
IGNORED = "tests/ut/worker/test_worker_v1.py"
KNOWN_SKIP = '@pytest.mark.skip("as known")\ndef test_SiluAndMul_forward_310p(): pass\n'


def run(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the suite on a tree of these files."""
    tree, cwd = folder / "tree", folder / "cwd"
    cwd.mkdir(parents=True)
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    command = [sys.executable, vllm_ascend_ut.__file__, tree, folder / "junit.xml"]
    variables = os.environ | {"PYTHONPATH": str(folder / "site"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)


def test_it_passes_and_says_what_it_does_otherwise(tmp_path: Path) -> None:
    package = tmp_path / "site/vllm_ascend/__init__.py"
    package.parent.mkdir(parents=True)
    package.touch()
    own = "import vllm_ascend\ndef test_which(): assert 'site' in vllm_ascend.__file__\n"
    ended = run(
        tmp_path,
        {
            "setup.py": "",
            "vllm_ascend/__init__.py": "the tree's own, which no test may import",
            "tests/ut/test_a.py": own,
            "tests/ut/ops/test_activation.py": TEST + KNOWN_SKIP,
            IGNORED: "def test_bad(): assert 0\n",
        },
    )
    assert ended.returncode == 0, ended.stdout
    lines = ended.stdout.splitlines()
    assert lines[0] == f"package: {package}"
    assert f"ignored: {IGNORED} (left out by upstream's CI: _unit_test.yaml, --ignore)" in lines
    assert "not there, so not ignored: tests/ut/spec_decode/test_mtp_proposer.py" in lines
    assert "variable: VLLM_WORKER_MULTIPROC_METHOD=spawn" in lines
    assert "skipped: 1, of them 0 not known to be" in lines
    assert any(line.startswith("deviation from upstream's CI: --cov: ") for line in lines)
    assert not list((tmp_path / "tree").rglob("__pycache__"))


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        ("def test_bad(): assert 0\n", 1, "FAILED tests/ut/test_a.py::test_bad"),
        (
            "@pytest.mark.skip('no NPU')\ndef test_x(): pass\n",
            3,
            "skipped, and not known to be: tests.ut.test_a::test_x: no NPU",
        ),
        (
            "@pytest.mark.xfail\ndef test_x(): assert 0\n",
            3,
            "skipped, and not known to be: tests.ut.test_a::test_x",
        ),
        ("import nowhere\n", 1, "ModuleNotFoundError"),
    ],
    ids=["failed", "skipped", "expected to fail", "not collected"],
)
def test_what_does_not_pass_is_named(tmp_path: Path, more: str, code: int, says: str) -> None:
    good = run(tmp_path / "good", {"setup.py": "", "tests/ut/test_a.py": TEST})
    assert good.returncode == 0, good.stdout
    bad = run(tmp_path / "bad", {"setup.py": "", "tests/ut/test_a.py": TEST + more})
    assert bad.returncode == code
    assert says in bad.stdout


def test_it_takes_no_configuration_of_the_folder_that_the_archive_lies_in(tmp_path: Path) -> None:
    tests = {"setup.py": "", "tests/ut/ops/test_activation.py": TEST + KNOWN_SKIP}
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--no-such-option"\n')
    ended = run(tmp_path / "runs/good", tests)
    assert ended.returncode == 0, ended.stdout
    assert "skipped: 1, of them 0 not known to be" in ended.stdout
    own = run(tmp_path / "runs/own", tests | {"pytest.ini": "[pytest]\naddopts = --own-option\n"})
    assert own.returncode == 1
    assert "--own-option" in own.stderr


@pytest.mark.parametrize(
    ("files", "code", "says"),
    [
        ({"vllm_ascend/__init__.py": ""}, 3, "a wheel brings no tests"),
        ({"setup.py": ""}, 3, "this tree has no tests"),
        ({"setup.py": "", "tests/ut/README": ""}, 1, "no tests ran"),
    ],
)
def test_no_tests_never_pass(tmp_path: Path, files: dict[str, str], code: int, says: str) -> None:
    assert run(tmp_path / "good", {"setup.py": "", "tests/ut/test_a.py": TEST}).returncode == 0
    ended = run(tmp_path / "bad", files)
    assert (ended.returncode, says in ended.stdout) == (code, True), ended.stdout


def test_the_suite_and_the_rule_read_the_same_list() -> None:
    known = vllm_ascend_ut.Known.read()
    assert known.skipped.keys() == known_tests().skips
    assert known.ignored == known_tests().ignored.files
    assert (len(known.skipped), len(known.ignored)) == (23, 8)
    assert json.dumps(known.variables) == json.dumps(known_tests().variables)


def test_names_of_junit() -> None:
    assert vllm_ascend_ut.junit_name("tests/ut/a.py::test[x::y/z.py]") == "tests.ut.a::test[x::y/z.py]"
    assert vllm_ascend_ut.junit_name("tests/ut/b/a.py::A::B::test") == "tests.ut.b.a.A.B::test"
