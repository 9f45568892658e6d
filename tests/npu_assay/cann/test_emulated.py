"""The emulator is built once for a content, or says why not. A tiny CMake project stands in for it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from npu_assay.cann.emulated import EmulatedProvider, compiler_cache
from npu_assay.cann.provider import Target
from npu_assay.errors import UnusableError

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(emucann LANGUAGES CXX)
if(BUILD_TESTING)
  message(FATAL_ERROR "tests are not part of a build")
endif()
foreach(variable EMUCANN_TORCH_DIR EMUCANN_TORCH_NPU_DIR EMUCANN_VLLM_ASCEND_DIR EMUCANN_PYTHON)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "${variable} is not given")
  endif()
endforeach()
add_library(ascendcl SHARED ascendcl.cpp)
install(TARGETS ascendcl LIBRARY DESTINATION lib)
set(package "package_name=Ascend-cann-toolkit\\nversion=9.0.0\\n")
set(info cann/${CMAKE_SYSTEM_PROCESSOR}-linux)
file(WRITE ${CMAKE_BINARY_DIR}/ascend_toolkit_install.info "${package}innerversion=EMULATED\\n")
install(FILES ${CMAKE_BINARY_DIR}/ascend_toolkit_install.info DESTINATION ${info})
"""


def silent(line: str) -> None:
    raise AssertionError(f"nothing to wait for, but: {line}")


@pytest.fixture
def emulated(tmp_path: Path) -> EmulatedProvider:
    source = tmp_path / "emucann"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CMAKE)
    (source / "ascendcl.cpp").write_text('extern "C" int answer() { return 42; }\n')
    return EmulatedProvider(source=source, cache=tmp_path / "cache")


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(python=tmp_path / "python", site_packages=tmp_path / "site", versions={"torch": "2.9.0"})


def test_it_is_built_once(emulated: EmulatedProvider, target: Target) -> None:
    assert not emulated.ready(target)
    tree = emulated.provide(target, silent)
    assert tree == emulated.locate(target)
    assert tree.innerversion() == "EMULATED"
    assert (tree.root / "lib" / "libascendcl.so").is_file()
    facts = json.loads((emulated.folder(target) / "complete.json").read_text())
    assert facts["innerversion"] == "EMULATED"
    assert facts["built_against"] == {"torch": "2.9.0"}

    (emulated.folder(target) / "build.log").unlink()
    assert emulated.ready(target)
    emulated.provide(target, silent)
    assert not (emulated.folder(target) / "build.log").exists(), "the second time nothing is built"


def test_another_content_version_or_compiler_is_another_build(
    emulated: EmulatedProvider, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {emulated.key(target), emulated.key(replace(target, versions={"torch": "2.10.0"}))}
    (emulated.source / "ascendcl.cpp").write_text('extern "C" int answer() { return 43; }\n')
    keys.add(emulated.key(target))
    assert emulated.key(replace(target, python=Path("/other"))) in keys, (
        "where the environment is does not count"
    )
    monkeypatch.setenv("CXX", shutil.which("cmake") or "")
    keys.add(emulated.key(target))
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        (
            "ascendcl.cpp",
            "int answer( { return 42; }\n",
            r"building the emulator failed .*ascendcl\.cpp:1:.* error: ",
        ),
        (
            "CMakeLists.txt",
            CMAKE + 'message(FATAL_ERROR "no")\n',
            "configuring the emulator failed .*CMake Error",
        ),
        ("CMakeLists.txt", CMAKE.replace("innerversion=", "x="), "no innerversion; expected a line"),
    ],
)
def test_what_fails_is_told_with_where_the_log_is(
    emulated: EmulatedProvider, target: Target, file: str, text: str, says: str
) -> None:
    (emulated.source / file).write_text(text)
    with pytest.raises(UnusableError, match=says) as raised:
        emulated.provide(target, silent)
    assert "\n" not in str(raised.value)
    log = emulated.folder(target) / "build.log"
    assert log.is_file()
    assert str(log) in str(raised.value) or "innerversion" in says
    assert not emulated.ready(target), "what failed is never used"


def test_a_checkout_without_the_sources_is_told(target: Target, tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"no CMakeLists\.txt; .*its own checkout"):
        EmulatedProvider(source=tmp_path, cache=tmp_path).provide(target, silent)


def test_no_compiler_is_told(
    emulated: EmulatedProvider, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "/gone/c++")
    with pytest.raises(UnusableError, match=r"can't run /gone/c\+\+ --version; install g\+\+ or set CXX"):
        emulated.key(target)


def test_ccache_is_used_where_it_is(tmp_path: Path) -> None:
    assert compiler_cache({"PATH": str(tmp_path)}) == ()
    (tmp_path / "ccache").touch()
    assert compiler_cache({"PATH": f"/gone:{tmp_path}"}) == ("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",)
