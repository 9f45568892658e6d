"""Builds on hardware, tried with a stand-in compiler that writes down its calls."""

import os
import shutil
import signal
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from build_bench import MACHINE, Bench, make_venv, outside_path, plant_bench
from conftest import write_small_lock

from npu_assay.cache import facts_of, is_complete
from npu_assay.digest import sha256_of
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.environment.record import damage_of, parse_record
from npu_assay.errors import AssayError, UnusableError
from npu_assay.source.listing import list_tree

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
    shutil.copytree(first.environment.cache, bench.environment.cache, dirs_exist_ok=True, symlinks=True)
    assert bench.build().is_made()
    return bench


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The variables of whoever builds: a 910B3 is asked for, there is no npu-smi and no ccache."""
    for name in ("MAX_JOBS", "CC", "CXX", "HCCL_STRUCT_FILE_PATH"):
        patch.delenv(name, raising=False)
    patch.setenv("SOC_VERSION", "ascend910b3")
    patch.setenv("HOME", str(folder / "home"))
    patch.setenv("PATH", outside_path(folder))
    (folder / "home").mkdir()


def test_a_tree_is_compiled_and_installed_from_its_wheel(bench: Bench) -> None:
    before = list_tree(bench.tree)
    build = bench.make()
    assert bench.compiled() == EVERYTHING
    package = build.site / "vllm_ascend"
    assert (package / "libvllm_ascend_kernels.so").read_bytes()[:4] == b"\x7fELF"
    assert (package / "vllm_ascend_C.cpython-311-test.so").is_file()
    assert (package / "_cann_ops_custom/vendors/vllm-ascend/op_api/lib/libcust_opapi.so").is_file()
    assert "__device_type__ = 'A2'" in (package / "_build_info.py").read_text()

    there = installed(build.site)["vllm-ascend"]
    assert there.version == build.tree.record.version
    damage = damage_of(there, build.site, lambda row: True)
    assert damage is not None
    assert (damage.missing, damage.changed) == ((), ())
    recorded = {row.path for row in parse_record((there.dist_info / "RECORD").read_text(), "RECORD")}
    assert recorded == {p.relative_to(build.site).as_posix() for p in build.site.rglob("*") if p.is_file()}
    facts = facts_of(build.folder)
    wheel = build.folder / facts["wheel"]
    assert facts["wheel_sha256"] == sha256_of(wheel)
    assert wheel.name.startswith(f"vllm_ascend-{build.tree.record.version}-cp311-cp311-linux_")
    assert facts["tree_sha256"] == build.tree.record.tree_sha256
    assert (facts["soc"], facts["device_type"]) == ("ascend910b3", "A2")
    assert [edit["path"] for edit in facts["edits"]] == ["CMakeLists.txt", "csrc/cmake/intf_pub.cmake"]
    assert list_tree(bench.tree).data == before.data, "nothing is built in the user's folder"
    assert list_tree(build.tree.files).data == build.tree.listing().data
    assert sorted(path.name for path in build.native.folder.iterdir()) == [
        "build.log",
        "complete.json",
        "parts",
    ]


def test_the_compiler_sees_cann_and_nothing_of_the_user(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CPATH", "CXXFLAGS", "CMAKE_GENERATOR", "PIP_INDEX_URL", "VLLM_BATCH_INVARIANT", "VERBOSE"):
        monkeypatch.setenv(name, "of the user")
    monkeypatch.setenv("MAX_JOBS", "3")
    bench.make()
    seen = bench.calls()[0]["env"]
    work = str(bench.environment.cache / "native")
    assert {name: seen.get(name) for name in ("SOC_VERSION", "CMAKE_BUILD_TYPE", "MAX_JOBS")} == {
        "SOC_VERSION": "ascend910b3",
        "CMAKE_BUILD_TYPE": "Release",
        "MAX_JOBS": "3",
    }
    assert seen["ASCEND_HOME_PATH"] == str(bench.cann)
    assert (seen["PIP_NO_INDEX"], seen["PIP_CONFIG_FILE"]) == ("1", os.devnull)
    assert seen["PATH"].split(os.pathsep)[0] == str(bench.environment.python.parent)
    for name in ("HOME", "GIT_CONFIG_GLOBAL", "TMPDIR"):
        assert seen[name].startswith(work), name
    assert all(value != "of the user" for value in seen.values())
    assert "CMAKE_CXX_COMPILER_LAUNCHER" not in seen
    assert list((tmp_path / "home").iterdir()) == [], "git's global settings are not written to"


def test_what_is_made_is_not_made_again(bench: Bench) -> None:
    build = bench.make()
    assert bench.build().make(lambda line: None) is False
    assert bench.compiled() == EVERYTHING
    assert build.folder == bench.build().folder


def test_a_change_in_python_compiles_nothing(bench: Bench) -> None:
    first = bench.make()
    bench.change("vllm-ascend/vllm_ascend/__init__.py", "first", "second")
    second = bench.make()
    assert bench.compiled() == EVERYTHING
    assert (second.folder != first.folder, second.native.folder) == (True, first.native.folder)
    assert "second" in (second.site / "vllm_ascend/__init__.py").read_text()
    for name in ("libvllm_ascend_kernels.so", "vllm_ascend_C.cpython-311-test.so"):
        assert (second.site / "vllm_ascend" / name).read_bytes() == (
            first.site / "vllm_ascend" / name
        ).read_bytes()
    assert [facts_of(one.folder)["compiled_now"] for one in (first, second)] == [True, False]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vllm-ascend/csrc/kernels/add.cpp", "return 1", "return 2"),
        ("vllm-ascend/CMakeLists.txt", "MODULE", "MODULE "),
        ("vllm-ascend/setup.py", "import os", "import os "),
        ("Ascend/cann-9.0.0/{machine}/ascend_toolkit_install.info", "B250", "B251"),
        ("Ascend/cann-9.0.0/{machine}/ascend_ops_install.info", "B250", "B251"),
        ("Ascend/cann-9.0.0/bin/bisheng", "bisheng 1.0", "bisheng 1.1"),
        ("{torch_npu}/METADATA", "2.10.0", "2.10.0.post2"),
    ],
)
def test_a_change_in_what_is_compiled_or_compiles_does(bench: Bench, name: str, old: str, new: str) -> None:
    first = bench.make()
    assert bench.build().is_made()
    torch_npu = installed(bench.environment.site_packages)["torch-npu"].dist_info
    bench.change(name.format(machine=MACHINE, torch_npu=torch_npu.relative_to(bench.folder)), old, new)
    second = bench.build()
    assert not second.is_made()
    assert second.native.key != first.native.key


def test_a_build_for_another_chip_takes_the_place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = bench.make()
    monkeypatch.setenv("SOC_VERSION", "ascend910b1")
    second = bench.make()
    assert second.folder == first.folder
    assert facts_of(second.folder)["soc"] == "ascend910b1"
    assert bench.compiled() == sorted(EVERYTHING * 2)


def test_two_at_once_compile_once(bench: Bench) -> None:
    notes: list[str] = []
    builds = [bench.build(), bench.build()]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda build: build.make(notes.append), builds))
    assert sorted(made) == [False, True]
    assert bench.compiled() == EVERYTHING
    assert all(build.is_made() for build in builds)


def test_a_build_that_fails_leaves_its_log_and_names_the_first_error(bench: Bench) -> None:
    bench.fault(
        """\
        print("add.cpp:1:2: error: no such instruction", flush=True)
        print("add.cpp:2:2: error: another", flush=True)
        raise SystemExit(1)
        """
    )
    build = bench.build()
    with pytest.raises(
        AssayError, match=r"add.cpp:1:2: error: no such instruction; the full log is"
    ) as raised:
        build.make(lambda line: None)
    assert raised.value.exit_code == 1
    assert str(build.native.log) in str(raised.value)
    assert b"error: another" in build.native.log.read_bytes()
    assert [path.name for path in build.native.folder.iterdir()] == ["build.log"]
    assert not is_complete(build.folder)
    bench.fault("")
    assert bench.build().make(lambda line: None) is True


def test_an_interrupted_build_leaves_nothing_half_made(bench: Bench) -> None:
    bench.fault(f"os.kill({os.getpid()}, {int(signal.SIGINT)})\nimport time\ntime.sleep(60)\n")
    build = bench.build()
    with pytest.raises(KeyboardInterrupt):
        build.make(lambda line: None)
    assert [path.name for path in build.native.folder.iterdir()] == ["build.log"]
    bench.fault("")
    assert bench.build().make(lambda line: None) is True


@pytest.mark.parametrize(
    ("soc", "name", "old", "new", "says"),
    [
        ("ascend910b3", "CMakeLists.txt", "ascendc_library(", "#", "without libvllm_ascend_kernels.so"),
        ("ascend910b3", "csrc/build_aclnn.sh", "bisheng ", "true ", "without _cann_ops_custom/vendors/"),
        ("ascend910b3", "CMakeLists.txt", 'PREFIX ""', 'PREFIX "x"', "without vllm_ascend_C"),
        ("ascend910b3", "setup.py", "'{device_type}'", "'A3'", "_build_info.py says .* expected .*'A2'"),
    ],
)
def test_a_build_without_what_the_chip_needs_is_none(
    bench: Bench, soc: str, name: str, old: str, new: str, says: str
) -> None:
    bench.make()
    bench.change(f"vllm-ascend/{name}", old, new)
    build = bench.build()
    with pytest.raises(AssayError, match=says):
        build.make(lambda line: None)
    assert not is_complete(build.folder)


def test_a_310p_needs_no_kernels(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.change(f"Ascend/cann-9.0.0/{MACHINE}/ascend_ops_install.info", "910b", "310p")
    monkeypatch.setenv("SOC_VERSION", "ascend310p3")
    bench.change("vllm-ascend/CMakeLists.txt", "ascendc_library(", "#")
    build = bench.make()
    assert "_310P" in (build.site / "vllm_ascend/_build_info.py").read_text()
    assert bench.compiled() == []


def test_a_build_that_changes_the_environment_is_none(bench: Bench) -> None:
    bench.make()
    site = bench.environment.site_packages
    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return 2")
    bench.fault(
        f"""\
        stray = Path({str(site)!r}, "triton-3.6.0.dist-info")
        stray.mkdir(exist_ok=True)
        (stray / "METADATA").write_text("Metadata-Version: 2.1\\nName: triton\\nVersion: 3.6.0\\n")
        """
    )
    with pytest.raises(UnusableError, match="the build changed the environment: triton came"):
        bench.build().make(lambda line: None)


def test_the_cached_compiler_is_ccache_where_there_is_one(bench: Bench, tmp_path: Path) -> None:
    bench.make()
    assert not (bench.environment.cache / "ccache").exists()
    script = tmp_path / "tools" / "ccache"
    script.write_text(f'#!/bin/sh\necho "$CCACHE_DIR $CCACHE_MAXSIZE" >>{tmp_path}/ccache.log\nexec "$@"\n')
    script.chmod(0o755)
    bench.change("vllm-ascend/csrc/binding.cpp", "return 1", "return 2")
    bench.make()
    lines = (tmp_path / "ccache.log").read_text().splitlines()
    assert set(lines) == {f"{bench.environment.cache / 'ccache'} 5G"}


def test_the_wheel_is_the_same_to_the_byte_from_the_cache_and_not(bench: Bench) -> None:
    first = bench.make()
    wheel = (first.folder / facts_of(first.folder)["wheel"]).read_bytes()
    shutil.rmtree(first.folder)
    second = bench.make()
    assert (second.folder / facts_of(second.folder)["wheel"]).read_bytes() == wheel
    with zipfile.ZipFile(second.folder / facts_of(second.folder)["wheel"]) as archive:
        assert archive.testzip() is None
