"""Builds on hardware, tried with a stand-in compiler that writes down its calls."""

import os
import shutil
import signal
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_bench import B250, MACHINE, TREE, Bench, make_venv, outside_path, plant_bench, write
from small_lock import write_small_lock

from npu_assay.cache import facts_of, is_complete
from npu_assay.cann.discovery import ATB_VARIABLE, TOOLKIT_VARIABLES
from npu_assay.digest import sha256_of
from npu_assay.environment.ascend_build.hardware import HardwareBuild
from npu_assay.environment.ascend_build.locked import make_locked_tree
from npu_assay.environment.ascend_build.toolchain import PythonFacts
from npu_assay.environment.ascend_build.variables import build_variables, jobs
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.environment.record import damage_of, parse_record
from npu_assay.errors import AssayError, UnusableError, UsageError
from npu_assay.source.listing import list_tree

OWN = ("MAX_JOBS", "CC", "CXX", "HCCL_STRUCT_FILE_PATH")
EVERYTHING = ["add.cpp", "op.cpp"]


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One on which its tree was built for a 910B3, without an NPU at hand, once for all tests."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        prepare(folder, patch)
        bench = plant_bench(folder, make_venv(folder / "venv"), write_small_lock(folder / "locks"))
        bench.make()
    return bench


@pytest.fixture
def bench(first: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose tree is built already; the compiler's calls are of what is built after that."""
    prepare(tmp_path, monkeypatch)
    bench = plant_bench(tmp_path, first.folder / "venv", first.folder / "locks")
    for name in ("trees", "native", "builds"):
        shutil.copytree(first.environment.cache / name, bench.environment.cache / name, copy_function=os.link)
    assert bench.build().is_made()
    return bench


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The variables of whoever builds: a 910B3 is asked for, there is no npu-smi and no ccache."""
    for name in (*TOOLKIT_VARIABLES, ATB_VARIABLE, *OWN):
        patch.delenv(name, raising=False)
    patch.setenv("SOC_VERSION", "ascend910b3")
    patch.setenv("ASCEND_HOME_PATH", str(folder / "Ascend/cann"))
    patch.setenv("HOME", str(folder / "home"))
    patch.setenv("PATH", outside_path(folder))
    (folder / "home").mkdir()


def rebuilt(bench: Bench) -> HardwareBuild:
    """Of sources that were not compiled yet, made."""
    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return 2")
    return bench.make()


def with_ops_of(bench: Bench, chip: str) -> None:
    bench.change(f"Ascend/cann-9.0.0/{MACHINE}/ascend_ops_install.info", "910b", chip)


def quiet(line: str) -> None:
    """Nobody wants to know."""


def test_a_tree_is_compiled_and_installed_from_its_wheel(first: Bench) -> None:
    assert first.compiled() == EVERYTHING
    [folder] = (path for path in (first.environment.cache / "builds").iterdir() if path.is_dir())
    site, package = folder / "site", folder / "site" / "vllm_ascend"
    assert (package / "libvllm_ascend_kernels.so").read_bytes()[:4] == b"\x7fELF"
    assert (package / "vllm_ascend_C.cpython-311-test.so").is_file()
    assert (package / "_cann_ops_custom/vendors/vllm-ascend/op_api/lib/libcust_opapi.so").is_file()
    assert "__device_type__ = 'A2'" in (package / "_build_info.py").read_text()

    there = installed(site)["vllm-ascend"]
    damage = damage_of(there, site, lambda row: True)
    assert damage is not None
    assert (damage.missing, damage.changed) == ((), ())
    recorded = {row.path for row in parse_record((there.dist_info / "RECORD").read_text(), "RECORD")}
    assert recorded == {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}

    facts = facts_of(folder)
    wheel = folder / facts["wheel"]
    assert facts["wheel_sha256"] == sha256_of(wheel)
    assert wheel.name.startswith(f"vllm_ascend-{there.version}-cp311-cp311-linux_")
    assert facts["version"] == there.version
    compiled = facts["compiled"]
    assert (compiled["soc"], compiled["device_type"], compiled["cann"]) == ("ascend910b3", "A2", B250)
    assert [edit["path"] for edit in compiled["edits"]] == ["CMakeLists.txt", "csrc/cmake/intf_pub.cmake"]
    native = first.environment.cache / "native" / facts["native"]
    assert sorted(path.name for path in native.iterdir()) == ["build.log", "complete.json", "parts"]


def test_nothing_is_built_in_a_tree_that_is_kept(first: Bench) -> None:
    listing = list_tree(first.tree)
    assert set(listing.files) == set(TREE), "nor in the user's folder"
    [kept] = (first.environment.cache / "trees").glob("*/tree")
    assert list_tree(kept).sha256 == listing.sha256


def test_the_compiler_sees_cann_and_nothing_of_the_user(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CPATH", "CXXFLAGS", "CMAKE_GENERATOR", "PIP_INDEX_URL", "VLLM_BATCH_INVARIANT", "VERBOSE"):
        monkeypatch.setenv(name, "of the user")
    monkeypatch.setenv("MAX_JOBS", "3")
    rebuilt(bench)
    seen = bench.calls()[0]["env"]
    assert {name: seen.get(name) for name in ("SOC_VERSION", "CMAKE_BUILD_TYPE", "MAX_JOBS")} == {
        "SOC_VERSION": "ascend910b3",
        "CMAKE_BUILD_TYPE": "Release",
        "MAX_JOBS": "3",
    }
    assert seen["ASCEND_HOME_PATH"] == str(bench.cann)
    assert (seen["PIP_NO_INDEX"], seen["PIP_CONFIG_FILE"]) == ("1", os.devnull)
    assert seen["PATH"].split(os.pathsep)[0] == str(bench.environment.python.parent)
    for name in ("HOME", "GIT_CONFIG_GLOBAL", "TMPDIR"):
        assert seen[name].startswith(str(bench.environment.cache / "native")), name
    assert all(value != "of the user" for value in seen.values())
    assert "CMAKE_CXX_COMPILER_LAUNCHER" not in seen
    assert list((tmp_path / "home").iterdir()) == [], "git's global settings are not written to"


def test_stubs_of_the_driver_are_found_only_where_there_is_none(bench: Bench) -> None:
    stubs = str(bench.cann / MACHINE / "devlib")
    assert stubs in build_variables(bench.environment)["LD_LIBRARY_PATH"].split(os.pathsep)
    write(bench.root, {"driver/lib64/driver/libascend_hal.so": ""})
    assert stubs not in build_variables(bench.environment)["LD_LIBRARY_PATH"].split(os.pathsep)


@pytest.mark.parametrize(
    ("asked", "available_mib", "expected"),
    [({"MAX_JOBS": "7"}, 1, 7), ({}, 1, 1), ({}, 1 << 40, len(os.sched_getaffinity(0)))],
)
def test_as_many_compilers_run_as_memory_and_cores_allow(
    asked: dict[str, str], available_mib: int, expected: int
) -> None:
    assert jobs(asked, available_mib) == expected


@pytest.mark.parametrize("asked", ["0", "-1", "many"])
def test_a_number_of_jobs_that_is_none_is_told(asked: str) -> None:
    assert jobs({"MAX_JOBS": "1"}) == 1
    with pytest.raises(UsageError, match=f"MAX_JOBS is '{asked}'"):
        jobs({"MAX_JOBS": asked})


def test_what_is_made_is_not_made_again(bench: Bench) -> None:
    assert bench.build().make(quiet) is False
    assert bench.calls() == []


def test_a_change_in_python_compiles_nothing(bench: Bench) -> None:
    first = bench.build()
    bench.change("vllm-ascend/vllm_ascend/__init__.py", "first", "second")
    second = bench.make()
    assert bench.calls() == []
    assert second.folder != first.folder
    assert "second" in (second.site / "vllm_ascend/__init__.py").read_text()
    compiled = list(first.site.rglob("*.so"))
    assert len(compiled) == 3
    for path in compiled:
        assert (second.site / path.relative_to(first.site)).read_bytes() == path.read_bytes()
    assert [facts_of(one.folder)["compiled_now"] for one in (first, second)] == [True, False]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vllm-ascend/csrc/kernels/add.cpp", "return 1", "return 2"),
        ("vllm-ascend/CMakeLists.txt", "MODULE", "MODULE "),
        ("vllm-ascend/setup.py", "import os", "import os "),
        ("Ascend/cann-9.0.0/bin/bisheng", "bisheng 1.0", "bisheng 1.1"),
    ],
)
def test_other_sources_and_another_compiler_have_another_key(
    bench: Bench, name: str, old: str, new: str
) -> None:
    before = bench.build()
    assert before.is_made()
    bench.change(name, old, new)
    after = bench.build()
    assert not after.is_made()
    assert after.native.key != before.native.key


@pytest.mark.parametrize(
    "other",
    [
        {"innerversion": "V100R001C10SPC001B251"},
        {"ops": None},
        {"torch": "2.9.0"},
        {"torch_npu": "2.10.0.post2"},
        {"host_compiler": "c++ 99"},
        {"python": PythonFacts("3.11.99", Path("/include"), ())},
    ],
)
def test_all_that_goes_into_compiled_parts_is_in_their_key(bench: Bench, other: dict[str, Any]) -> None:
    native = bench.build().native
    assert native.key == bench.build().native.key
    assert replace(native, toolchain=replace(native.toolchain, **other)).key != native.key


def test_a_build_for_another_chip_takes_the_place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = bench.build()
    monkeypatch.setenv("SOC_VERSION", "ascend910b1")
    second = bench.make()
    assert bench.compiled() == EVERYTHING
    assert second.folder == first.folder
    assert facts_of(second.folder)["compiled"]["soc"] == "ascend910b1"
    assert not first.is_made()


def test_two_at_once_compile_once(bench: Bench) -> None:
    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return 2")
    builds = [bench.build(), bench.build()]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda build: build.make(quiet), builds))
    assert sorted(made) == [False, True]
    assert bench.compiled() == EVERYTHING
    assert all(build.is_made() for build in builds)


def test_a_build_that_fails_leaves_its_log_and_names_the_first_error(bench: Bench) -> None:
    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return nothing")
    build = bench.build()
    with pytest.raises(AssayError, match=r"op\.cpp:1:\d+: error: .*nothing.*; the full log is") as raised:
        build.make(quiet)
    assert raised.value.exit_code == 1
    assert str(build.native.log) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert b"error: " in build.native.log.read_bytes()
    assert [path.name for path in build.native.folder.iterdir()] == ["build.log"]
    assert not is_complete(build.folder)
    bench.change("vllm-ascend/csrc/op/op.cpp", "return nothing", "return 1")
    assert bench.build().is_made()


def test_an_interrupted_build_leaves_nothing_half_made(bench: Bench) -> None:
    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return 2")
    bench.fault(f"os.kill({os.getpid()}, {int(signal.SIGINT)})\nimport time\ntime.sleep(60)\n")
    build = bench.build()
    with pytest.raises(KeyboardInterrupt):
        build.make(quiet)
    assert [path.name for path in build.native.folder.iterdir()] == ["build.log"]
    bench.fault("")
    assert bench.build().make(quiet) is True


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("CMakeLists.txt", "ascendc_library(", "#", "without libvllm_ascend_kernels.so"),
        ("csrc/build_aclnn.sh", "bisheng ", "true ", "without _cann_ops_custom/vendors/"),
        ("CMakeLists.txt", 'PREFIX ""', 'PREFIX "x"', "without vllm_ascend_C"),
        ("setup.py", "'{device_type}'", "'A3'", "_build_info.py says .* expected .*'A2'"),
    ],
)
def test_a_build_without_what_the_chip_needs_is_none(
    bench: Bench, name: str, old: str, new: str, says: str
) -> None:
    bench.change(f"vllm-ascend/{name}", old, new)
    build = bench.build()
    with pytest.raises(AssayError, match=says):
        build.make(quiet)
    assert not is_complete(build.folder)


def test_a_310p_needs_no_kernels(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with_ops_of(bench, "310p")
    monkeypatch.setenv("SOC_VERSION", "ascend310p3")
    bench.change("vllm-ascend/CMakeLists.txt", "ascendc_library(", "#")
    build = bench.make()
    assert "_310P" in (build.site / "vllm_ascend/_build_info.py").read_text()
    assert bench.calls() == []


def test_a_build_that_changes_the_environment_is_none(bench: Bench) -> None:
    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return 2")
    stray = bench.environment.site_packages / "triton-3.6.0.dist-info"
    bench.fault(
        f"""\
        stray = Path({str(stray)!r})
        stray.mkdir(exist_ok=True)
        (stray / "METADATA").write_text("Metadata-Version: 2.1\\nName: triton\\nVersion: 3.6.0\\n")
        """
    )
    try:
        with pytest.raises(UnusableError, match="the build changed the environment: triton came"):
            bench.build().make(quiet)
    finally:
        shutil.rmtree(stray)


def test_the_host_compiler_is_behind_ccache_where_there_is_one(bench: Bench, tmp_path: Path) -> None:
    assert not (bench.environment.cache / "ccache").exists()
    script = tmp_path / "tools" / "ccache"
    script.write_text(f'#!/bin/sh\necho "$CCACHE_DIR $CCACHE_MAXSIZE" >>{tmp_path}/ccache.log\nexec "$@"\n')
    script.chmod(0o755)
    rebuilt(bench)
    lines = (tmp_path / "ccache.log").read_text().splitlines()
    assert set(lines) == {f"{bench.environment.cache / 'ccache'} 5G"}


def test_the_wheel_is_the_same_to_the_byte_from_the_cache_and_not(bench: Bench) -> None:
    first = bench.build()
    wheel = first.folder / facts_of(first.folder)["wheel"]
    content = wheel.read_bytes()
    shutil.rmtree(first.folder)
    bench.make()
    assert bench.calls() == []
    assert wheel.read_bytes() == content
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None


@pytest.mark.environment
@pytest.mark.xdist_group("torch210")
def test_upstreams_own_tree_is_configured_with_the_edit_and_not_without(
    torch210: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.18.0 with torch 2.10, as far as a stand-in gets: to CANN's headers, which nothing here has."""
    prepare(tmp_path, monkeypatch)
    monkeypatch.setenv("SOC_VERSION", "ascend310p3")  # its custom operators are none, so CMake comes first
    bench = plant_bench(tmp_path, torch210.venv, write_small_lock(tmp_path / "locks"))
    bench.environment.cuda_standins.symlink_to(torch210.cuda_standins)
    with_ops_of(bench, "310p")
    tree = make_locked_tree(torch210, quiet)
    build = HardwareBuild.of(replace(bench.environment, tree=tree))
    empty = tmp_path / "empty.cpp"
    empty.write_text("")
    bench.fault(f"sys.argv[1:sys.argv.index('-o')] = [{str(empty)!r}]\n")

    without = replace(build, toolchain=replace(build.toolchain, torch="2.9.0"))
    with pytest.raises(AssayError, match=r"Expected PyTorch version 2\.9\.0, but found 2\.10\.0"):
        without.make(quiet)
    assert bench.calls() == []

    with pytest.raises(AssayError, match=r"fatal error: .*\.h"):
        build.make(quiet)
    log = build.native.log.read_text()
    assert "Expected PyTorch version" not in log
    assert "Detected SOC version: ascend310p3" in log
    [call] = bench.calls()
    assert [Path(word).parent.name for word in call["argv"] if word.endswith(".cpp")] != []
