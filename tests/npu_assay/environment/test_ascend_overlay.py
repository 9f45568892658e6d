"""A build for the emulator: the tree's Python, the wheel's compiled parts, and a RECORD that says so."""

import csv
import hashlib
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from npu_assay.environment.ascend_build.build import build, native_differences
from npu_assay.environment.ascend_build.wheel_parts import wheels_parts
from npu_assay.environment.environment import Environment
from npu_assay.environment.record import digest_of
from npu_assay.errors import AssayError, UnusableError
from npu_assay.source.location import Folder, Location, Wheel
from npu_assay.source.tree import SourceTree, Wanted, make_tree

#: Like upstream's: it writes a file into its own folder, and takes its version from a variable.
SETUP = """\
import os
from setuptools import find_packages, setup

assert os.environ["COMPILE_CUSTOM_KERNELS"] == "0"
with open("vllm_ascend/_build_info.py", "w") as file:
    file.write(f"soc = {os.environ['SOC_VERSION']!r}")
setup(name="vllm_ascend", version=os.environ["SETUPTOOLS_SCM_PRETEND_VERSION"], packages=find_packages())
"""
PYTHON = {"vllm_ascend/__init__.py": "", "vllm_ascend/envs.py": "mine = True\n"}
MODULE = "vllm_ascend/vllm_ascend_C.so"
KERNEL = "vllm_ascend/_cann_ops_custom/vendors/impl/add.py"
COMPILED = {MODULE: "the wheel's module", KERNEL: "the wheel's kernel"}
DIST_INFO = "vllm_ascend-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 1.0\n"


def plant(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def installed(with_venv: Environment) -> Environment:
    """The environment with a wheel's vllm-ascend in it."""
    files = COMPILED | {"vllm_ascend/__init__.py": "wheel = True\n"}
    plant(with_venv.site_packages, files | {f"{DIST_INFO}/METADATA": METADATA})
    rows = [f"{name},sha256={digest_of(text.encode())},{len(text)}" for name, text in files.items()]
    pyc = "vllm_ascend/_cann_ops_custom/vendors/impl/__pycache__/add.pyc,,"
    (with_venv.site_packages / DIST_INFO / "RECORD").write_text("\n".join([*rows, pyc, ""]))
    return with_venv


def with_tree(environment: Environment, location: Location) -> Environment:
    tree = make_tree(Wanted(location), "1.0", environment.cache, lambda line: None)
    return replace(environment, tree=tree)


def tree_of(environment: Environment) -> SourceTree:
    assert environment.tree is not None
    return environment.tree


def own(environment: Environment, folder: Path, **files: str) -> Environment:
    plant(folder, {"setup.py": SETUP} | PYTHON | files)
    return with_tree(environment, Folder(folder))


def unrecorded(site: Path) -> list[str]:
    """Files whose row in RECORD is missing or wrong."""
    (record,) = site.glob("vllm_ascend-*.dist-info/RECORD")
    rows = {row[0]: row[1:] for row in csv.reader(record.read_text().splitlines())}
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    assert rows.keys() <= files.keys()
    return [
        name
        for name, path in files.items()
        if path != record
        and path.suffix != ".pyc"
        and rows.get(name) != [f"sha256={digest_of(path.read_bytes())}", str(path.stat().st_size)]
    ]


def test_python_of_the_tree_over_compiled_parts_of_the_wheel(installed: Environment, tmp_path: Path) -> None:
    environment = own(installed, tmp_path / "tree")
    assert environment.unbuilt() == f"vllm-ascend {tree_of(environment).record.version} is not built"
    site = build(environment, lambda line: None) / "site"
    assert environment.unbuilt() == ""
    assert environment.vllm_ascend == site / "vllm_ascend"
    assert (site / "vllm_ascend/envs.py").read_text() == PYTHON["vllm_ascend/envs.py"]
    assert (site / "vllm_ascend/__init__.py").read_text() == ""
    assert "ascend910b1" in (site / "vllm_ascend/_build_info.py").read_text()
    for name, text in COMPILED.items():
        assert (site / name).read_text() == text
    assert unrecorded(site) == []
    assert not (tmp_path / "tree/vllm_ascend/_build_info.py").exists()
    assert not (tree_of(environment).files / "vllm_ascend/_build_info.py").exists()
    (site / "vllm_ascend/envs.py").write_text("changed")
    assert unrecorded(site) == ["vllm_ascend/envs.py"]


def test_it_is_the_one_that_python_finds_first(installed: Environment, tmp_path: Path) -> None:
    program = "import importlib.metadata as m, vllm_ascend as v; print(m.version('vllm-ascend'), v.__file__)"
    command = [str(installed.python), "-c", program]

    def says(path: str) -> str:
        variables = {"PYTHONPATH": path}
        return subprocess.run(
            command, env=variables, check=True, capture_output=True, text=True
        ).stdout.strip()

    assert says("") == f"1.0 {installed.site_packages}/vllm_ascend/__init__.py"
    environment = own(installed, tmp_path / "tree")
    site = build(environment, lambda line: None) / "site"
    assert says(str(site)) == f"{tree_of(environment).record.version} {site}/vllm_ascend/__init__.py"


def test_one_build_a_content(installed: Environment, tmp_path: Path) -> None:
    first = own(installed, tmp_path / "first")
    build(first, lambda line: None)
    again = own(installed, tmp_path / "again")
    assert again.build_folder == first.build_folder
    assert again.unbuilt() == ""
    assert own(installed, tmp_path / "other", **{"README": "x"}).unbuilt() != ""


def test_of_a_setup_that_fails_its_own_error_is_told(installed: Environment, tmp_path: Path) -> None:
    build(own(installed, tmp_path / "good"), lambda line: None)
    environment = own(installed, tmp_path / "bad", **{"setup.py": "open('not-there')\n" + SETUP})
    with pytest.raises(
        AssayError, match=r"pip install failed \(1\): FileNotFoundError: .*not-there.*build\.log"
    ):
        build(environment, lambda line: None)


def test_a_setup_that_packs_no_package_is_the_trees_fault(installed: Environment, tmp_path: Path) -> None:
    build(own(installed, tmp_path / "good"), lambda line: None)
    environment = own(installed, tmp_path / "bad", **{"setup.py": SETUP.replace("find_packages()", "[]")})
    with pytest.raises(
        AssayError, match=r"__init__\.py: setup\.py built no such file, so the installed"
    ) as error:
        build(environment, lambda line: None)
    assert error.value.exit_code == 1
    assert environment.unbuilt() != ""


@pytest.mark.parametrize("change", ["edited", "gone", "no RECORD"])
def test_a_build_that_was_changed_in_the_cache_is_refused(
    installed: Environment, tmp_path: Path, change: str
) -> None:
    environment = own(installed, tmp_path / "tree")
    site = build(environment, lambda line: None) / "site"
    assert build(environment, lambda line: None) / "site" == site
    if change == "edited":
        (site / "vllm_ascend/envs.py").write_text("mine = None\n")
    elif change == "gone":
        (site / "vllm_ascend/envs.py").unlink()
    else:
        next(site.glob("*.dist-info/RECORD")).unlink()
    with pytest.raises(UnusableError, match=r"not as it was built \(1 files\); remove .* and try again"):
        build(environment, lambda line: None)


def test_a_setup_that_fails_is_the_trees_fault_and_leaves_no_build(
    installed: Environment, tmp_path: Path
) -> None:
    build(own(installed, tmp_path / "good"), lambda line: None)
    environment = own(installed, tmp_path / "bad", **{"setup.py": "raise SystemExit('not today')\n"})
    with pytest.raises(
        AssayError, match=r"building vllm-ascend .*: pip install failed .*build\.log"
    ) as error:
        build(environment, lambda line: None)
    assert error.value.exit_code == 1
    assert "not today" in (environment.build_folder / "build.log").read_text()
    assert environment.unbuilt() != ""


def test_a_wheels_python_is_taken_and_its_compiled_parts_are_compared(
    installed: Environment, tmp_path: Path
) -> None:
    byte_code = "vllm_ascend/__pycache__/envs.cpython-311.pyc"

    def wheel(name: str, module: str) -> Environment:
        path = tmp_path / name / "vllm_ascend-1.0-py3-none-any.whl"
        path.parent.mkdir()
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in (
                PYTHON | COMPILED | {MODULE: module, f"{DIST_INFO}/METADATA": METADATA, byte_code: "stale"}
            ).items():
                archive.writestr(file, text)
        return with_tree(installed, Wheel(path))

    same = wheel("same", COMPILED[MODULE])
    site = build(same, lambda line: None) / "site"
    assert (site / "vllm_ascend/envs.py").exists()
    assert (tree_of(same).files / byte_code).exists()
    assert not (site / byte_code).exists()
    assert (site / MODULE).read_text() == COMPILED[MODULE]
    assert unrecorded(site) == []
    base = wheels_parts(installed)
    assert base.files == {name: hashlib.sha256(text.encode()).hexdigest() for name, text in COMPILED.items()}
    assert native_differences(tree_of(same), base) == []
    other = wheel("other", "another module")
    assert native_differences(tree_of(other), base) == [MODULE]
    assert (build(other, lambda line: None) / "site" / MODULE).read_text() == COMPILED[MODULE]
