"""What is looked for before anything is compiled: the good bench first, then each thing that is missing."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from build_bench import MACHINE, Bench, info, make_venv, outside_path, plant_bench, write
from small_lock import write_small_lock

from npu_assay.cann.files.install_info import parse_ops_install_info
from npu_assay.environment.ascend_build import preflight
from npu_assay.environment.ascend_build.hardware import HardwareBuild
from npu_assay.environment.ascend_build.preflight import check, hccl_header, may_download, needs_hccl_header
from npu_assay.environment.ascend_build.soc import Soc, read_known_socs
from npu_assay.environment.ascend_build.toolchain import PythonFacts
from npu_assay.errors import UnusableError


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared, as nothing is built here."""
    return make_venv(tmp_path_factory.mktemp("preflight") / "venv")


@pytest.fixture
def bench(venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """One that is good for a 910B3."""
    monkeypatch.delenv("HCCL_STRUCT_FILE_PATH", raising=False)
    monkeypatch.setenv("SOC_VERSION", "ascend910b3")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "Ascend/cann"))
    monkeypatch.setenv("PATH", outside_path(tmp_path))
    return plant_bench(tmp_path, venv, write_small_lock(tmp_path / "locks"))


def faults(build: HardwareBuild) -> list[str]:
    """The lines that are told; none where all is there."""
    try:
        check(build.environment, build.tree, build.soc, build.toolchain)
    except UnusableError as error:
        return str(error).splitlines()
    return []


def without(name: str) -> Callable[[Bench], None]:
    def remove(bench: Bench) -> None:
        path = bench.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return remove


def with_ops(package: str) -> Callable[[Bench], None]:
    def plant(bench: Bench) -> None:
        write(bench.cann, {f"{MACHINE}/ascend_ops_install.info": info(package, bench.cann)})

    return plant


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            without("Ascend/cann-9.0.0/tools"),
            ["no ascendc.cmake in tools/tikcpp/ascendc_kernel_cmake, compiler/tikcpp", "Ascend-cann-toolkit"],
        ),
        (without("Ascend/cann-9.0.0/bin/bisheng"), ["neither bisheng nor ccec", "Ascend-cann-toolkit"]),
        (
            without("vllm-ascend/csrc/third_party"),
            [
                "csrc/third_party/catlass is not in the sources",
                "--vllm-ascend git+https://github.com/vllm-project/vllm-ascend@v0.18.0",
                "git submodule update --init csrc/third_party/catlass",
            ],
        ),
        (without("tools/make"), ["no make on PATH"]),
    ],
)
def test_what_is_missing_is_one_line_with_the_next_step(
    bench: Bench, change: Callable[[Bench], None], says: list[str]
) -> None:
    assert faults(bench.build()) == []
    change(bench)
    [line] = faults(bench.build())
    for part in says:
        assert part in line


def test_what_csrc_downloads_itself_is_told(bench: Bench) -> None:
    assert may_download(bench.tree) == ()
    write(
        bench.tree / "csrc/cmake/third_party",
        {
            "json.cmake": 'set(REQ_URL "https://example.org/json.zip")\n',
            "gtest.cmake": "ExternalProject_Add(gtest\n  URL https://example.org/gtest.tar.gz)\n",
            "local.cmake": "# see https://example.org\nfind_path(LOCAL_INCLUDE local.h)\n",
        },
    )
    assert may_download(bench.tree) == ("gtest", "json")


def test_everything_is_told_at_once(bench: Bench) -> None:
    assert faults(bench.build()) == []
    without("Ascend/cann-9.0.0/bin/bisheng")(bench)
    without("vllm-ascend/csrc/third_party")(bench)
    assert len(faults(bench.build())) == 2


@pytest.mark.parametrize(
    ("soc", "package", "says"),
    [
        ("ascend910b3", "Ascend-cann-910b-ops", None),
        ("ascend910_9391", "Ascend-cann-A3-ops", None),
        ("ascend310p3", "Ascend-cann-310p-ops", None),
        ("ascend950pr_9579", "Ascend-cann-950-ops", None),
        ("ascend910b3", "Ascend-cann-A3-ops", "ascend910b3 wants Ascend-cann-910b-ops"),
        ("ascend910_9391", "Ascend-cann-910b-ops", "ascend910_9391 wants Ascend-cann-A3-ops"),
        ("ascend910b3", None, "no ops package can be read there; .*Ascend-cann-910b-ops"),
    ],
)
def test_the_ops_package_is_the_chip_s(bench: Bench, soc: str, package: str | None, says: str | None) -> None:
    build = bench.build()
    kind = read_known_socs(bench.tree).device_type(soc)
    assert kind is not None
    ops = None if package is None else parse_ops_install_info(info(package, bench.cann), "info")
    found = faults(replace(build, soc=Soc(soc, kind), toolchain=replace(build.toolchain, ops=ops)))
    if says is None:
        assert found == []
    else:
        [line] = found
        assert re.search(says, line)


def test_python_s_headers_and_modules_are_there(bench: Bench, tmp_path: Path) -> None:
    build = bench.build()
    assert faults(build) == []
    bare = PythonFacts("3.11.9", tmp_path / "include", ("pybind11", "setuptools_scm"))
    headers, modules = faults(replace(build, toolchain=replace(build.toolchain, python=bare)))
    assert "no Python.h" in headers
    assert "apt-get install python3.11-dev" in headers
    assert "has no pybind11, setuptools_scm" in modules


def test_a_full_disk_is_told_before(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults(bench.build()) == []
    monkeypatch.setattr(preflight, "NEEDED_MIB", 1 << 40)
    [line] = faults(bench.build())
    assert "compiling vllm-ascend needs" in line


def test_an_old_cmake_is_told(bench: Bench, tmp_path: Path) -> None:
    build = bench.build()
    assert faults(build) == []
    cmake = tmp_path / "tools" / "cmake"
    cmake.unlink()
    cmake.write_text("#!/bin/sh\necho cmake version 3.10.2\n")
    cmake.chmod(0o755)
    [line] = faults(build)
    assert "CMake is 3.10.2, expected 3.22 or later" in line


def test_an_a3_copies_a_header_of_cann(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOC_VERSION", "ascend910_9391")
    with_ops("Ascend-cann-A3-ops")(bench)
    build = bench.build()
    assert faults(build) == []
    assert hccl_header(build.toolchain) == bench.cann / MACHINE / "include/moe_distribute_base.h"
    own = tmp_path / "own.h"
    own.touch()
    monkeypatch.setenv("HCCL_STRUCT_FILE_PATH", str(own))
    assert hccl_header(bench.build().toolchain) == own

    monkeypatch.setenv("HCCL_STRUCT_FILE_PATH", str(tmp_path / "gone.h"))
    without(f"Ascend/cann-9.0.0/{MACHINE}/include")(bench)
    [line] = faults(bench.build())
    assert "HCCL_STRUCT_FILE_PATH names no file, and CANN has no moe_distribute_base.h" in line
    assert "set HCCL_STRUCT_FILE_PATH" in line


@pytest.mark.parametrize(
    ("soc", "old", "new"),
    [
        ("ascend910b3", "", ""),
        ("ascend910_9391", "git config", "HCCL_STRUCT_FILE_PATH=$(find /)\ngit config"),
        ("ascend910_9391", "${HCCL_STRUCT_FILE_PATH}", "none"),
    ],
)
def test_only_an_a3_whose_script_leaves_it_open_needs_the_header(
    bench: Bench, soc: str, old: str, new: str
) -> None:
    kind = read_known_socs(bench.tree).device_type(soc)
    assert kind is not None
    assert needs_hccl_header(bench.tree, Soc("ascend910_9391", "A3"))
    bench.change("vllm-ascend/csrc/build_aclnn.sh", old, new)
    assert not needs_hccl_header(bench.tree, Soc(soc, kind))


def test_the_header_is_copied_and_is_in_the_key(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOC_VERSION", "ascend910_9391")
    with_ops("Ascend-cann-A3-ops")(bench)
    before = bench.build().native.key
    bench.make()
    [call] = (call for call in bench.calls() if "op.cpp" in call["argv"][0])
    assert call["env"]["HCCL_STRUCT_FILE_PATH"].endswith("moe_distribute_base.h")
    write(bench.cann, {f"{MACHINE}/include/moe_distribute_base.h": "// another\n"})
    assert bench.build().native.key != before
