"""The lock's own vllm-ascend on hardware: compiled where there is no wheel, never for a run of another."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from build_bench import Bench, make_venv, plant_bench, prepare, quiet, write
from small_lock import write_small_lock

from npu_assay.environment.ascend_build.hardware import build_on_hardware, soc_for
from npu_assay.environment.ascend_build.locked import make_locked_tree
from npu_assay.environment.ascend_build.locked_build import build_locked, locked_build, with_locked
from npu_assay.environment.ascend_build.request import named_tree, read_request, run_source
from npu_assay.environment.drift.files import of_components
from npu_assay.environment.drift.look import look_at
from npu_assay.environment.drift.packages import components
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock
from npu_assay.environment.prune import needed
from npu_assay.environment.steps import COMPILING, HARDWARE, steps_of, steps_of_a_build, steps_of_a_run
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError
from npu_assay.source.git import git
from npu_assay.source.location import Wheel
from npu_assay.source.tree import Wanted, make_tree


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by the benches here."""
    return make_venv(tmp_path_factory.mktemp("locked") / "venv")


@pytest.fixture
def bench(venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose lock has vllm-ascend at a commit of a repository on this machine."""
    prepare(tmp_path, monkeypatch)
    locks = write_small_lock(tmp_path / "locks")
    bench = plant_bench(tmp_path, venv, locks)
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    git(["init", "-q"], folder=bench.tree)
    git(["add", "-A"], folder=bench.tree)
    git([*own, "commit", "-q", "-m", "first"], folder=bench.tree)
    commit = git(["rev-parse", "HEAD"], folder=bench.tree).decode().strip()
    lock_at(locks, bench.tree, commit)
    environment = Environment.of(load_lock("small", locks), "hardware", cache=tmp_path / "cache")
    environment.root.mkdir()
    environment.venv.symlink_to(venv)
    return replace(bench, environment=environment)


def lock_at(locks: Path, repository: Path, commit: str) -> None:
    """Have the small lock take vllm-ascend from git."""
    path = locks / "small.toml"
    before, _, after = path.read_text().partition("[components.vllm-ascend]\n")
    _, _, rest = after.partition("\n\n")
    table = f'version = "1.0"\nsource = "git"\nrepository = "file://{repository}"\ncommit = "{commit}"\n'
    emulated = f'version = "1.0"\nsource = "index"\nsha256 = {{ sdist = "{"0" * 64}" }}\n'
    table += f"\n[components.vllm-ascend.emulated]\n{emulated}"
    path.write_text(f"{before}[components.vllm-ascend]\n{table}\n{rest}")


def test_it_is_compiled_once_and_known_without_asking_anybody(bench: Bench) -> None:
    assert locked_build(bench.environment) is None
    folder = build_locked(bench.environment, quiet)
    assert bench.compiled() == ["add.cpp", "op.cpp"]
    assert (folder / "site/vllm_ascend/__init__.py").is_file()
    assert locked_build(bench.environment) == folder

    kept = needed(bench.environment.cache, [bench.environment])
    assert {folder, *(bench.environment.cache / "native").glob("*[0-9a-f]")} <= kept, "env prune leaves it"

    shutil.rmtree(bench.tree)  # nobody answers any more
    assert build_locked(bench.environment, quiet) == folder
    assert bench.compiled() == ["add.cpp", "op.cpp"]
    shutil.rmtree(folder)
    assert locked_build(bench.environment) is None


def test_env_check_finds_it_where_it_is(bench: Bench) -> None:
    def missing() -> list[str]:
        found = components(look_at(bench.environment))
        return [one.message for one in found if one.subject == "vllm-ascend"]

    def damaged() -> list[str]:
        return [
            one.message for one in of_components(look_at(bench.environment)) if one.subject == "vllm-ascend"
        ]

    assert missing() == ["vllm-ascend is not installed, the lock says 1.0"]
    folder = build_locked(bench.environment, quiet)
    assert (missing(), damaged()) == ([], [])
    (folder / "site/vllm_ascend/__init__.py").unlink()
    (message,) = damaged()
    assert message.endswith(" files are gone: vllm_ascend/__init__.py")


def test_any_program_of_the_environment_can_import_it(bench: Bench) -> None:
    given = {"PYTHONPATH": "/plugin", "A": "b"}
    assert with_locked(bench.environment, given) == given
    folder = build_locked(bench.environment, quiet)
    assert with_locked(bench.environment, given) == {"PYTHONPATH": f"{folder}/site:/plugin", "A": "b"}
    assert with_locked(bench.environment, {})["PYTHONPATH"] == f"{folder}/site"


def test_a_run_builds_what_it_proves_and_not_the_lock_s(bench: Bench) -> None:
    of_lock = run_source(read_request(None, ()), None, bench.environment, quiet)
    assert of_lock.environment.tree is not None
    assert of_lock.tree.record.is_locks
    assert of_lock.environment.unbuilt() == "vllm-ascend 1.0 is not built"
    build_on_hardware(of_lock.environment, quiet)
    assert of_lock.environment.unbuilt() == ""
    assert locked_build(bench.environment) is None

    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return 2")
    request = read_request(str(bench.tree), ())
    own = run_source(request, named_tree(request, bench.environment, quiet), bench.environment, quiet)
    assert own.environment.build_folder != of_lock.environment.build_folder
    assert own.base is None, "nothing is held against the lock's: it is compiled"


@pytest.mark.parametrize(
    ("name", "compiles"),
    [
        ("cann851-vllm018", True),
        ("cann900-vllm018", True),
        ("cann900-vllm018-torch210", True),
        ("cann900-vllm0221", False),
    ],
)
def test_only_a_lock_without_a_wheel_is_compiled_by_env_install_and_none_by_a_run(
    name: str, compiles: bool
) -> None:
    variant = Variant.of(load_lock(name), "hardware")
    assert variant.compiles("vllm-ascend") is compiles
    assert steps_of(variant) == (COMPILING if compiles else HARDWARE)
    assert ("vllm-ascend" in {step.name for step in steps_of_a_run(variant)}) is not compiles


def test_a_build_waits_for_nothing_that_changes_more_often_than_it() -> None:
    lock = load_lock("cann900-vllm018")
    for kind, unneeded in (("emulated", {"cann", "nnal", "adaptations"}), ("hardware", {"adaptations"})):
        variant = Variant.of(lock, kind)
        left_out = set(steps_of_a_run(variant)) - set(steps_of_a_build(variant))
        assert {step.name for step in left_out} == unneeded


def test_a_commit_that_is_not_public_is_told_before_anything_with_the_way_out(
    bench: Bench, tmp_path: Path
) -> None:
    request = read_request(None, ())
    assert named_tree(request, bench.environment, quiet) is not None
    lock, commit = bench.environment.lock.path, bench.environment.variant.component("vllm-ascend").commit
    lock.write_text(lock.read_text().replace(str(commit), "7" * 40))
    other = Environment.of(load_lock("small", tmp_path / "locks"), "hardware", cache=tmp_path / "cache")
    with pytest.raises(UnusableError) as raised:
        named_tree(request, other, quiet)
    message = str(raised.value)
    assert raised.value.exit_code == 4
    assert "\n" not in message
    for part in ("small.toml", "7" * 40, f"--vllm-ascend git+file://{bench.tree}@v1.0, or a folder"):
        assert part in message


def test_a_wheel_of_somebody_else_is_taken_where_it_can_be_loaded(bench: Bench) -> None:
    build = bench.make()
    facts = json.loads((build.folder / "complete.json").read_text())
    wheel = build.folder / facts["wheel"]

    def environment_of(path: Path) -> Environment:
        tree = make_tree(Wanted(Wheel(path)), "1.0", bench.environment.cache, quiet)
        return replace(bench.environment, tree=tree)

    good = environment_of(wheel)
    calls = len(bench.calls())
    build_on_hardware(good, quiet)
    assert (good.vllm_ascend / "libvllm_ascend_kernels.so").is_file()
    assert len(bench.calls()) == calls
    members = bench.folder / "members"
    shutil.unpack_archive(wheel, members, "zip")
    [metadata] = members.glob("*.dist-info/WHEEL")
    metadata.write_text(metadata.read_text().replace("cp311-cp311", "cp39-cp39"))
    other = bench.folder / wheel.name.replace("cp311-cp311", "cp39-cp39")

    def refuse(says: str) -> None:
        shutil.make_archive(str(other), "zip", members)
        other.with_name(other.name + ".zip").replace(other)
        with pytest.raises(UnusableError, match=says):
            build_on_hardware(environment_of(other), quiet)

    refuse(r"is for cp39-cp39-linux_\w+, which this machine and its Python can't load")
    metadata.unlink()
    refuse("is for nothing, which this machine and its Python can't load")


MAPPING = """\
NPU ID   Chip ID   Chip Logic ID   Chip Name
0        0         0               Ascend 910B3
1        0         1               Ascend 910B3
"""
BOARD = "NPU ID : {npu}\nChip ID : 0\nChip Type : Ascend\nChip Name : {name}\nBoard ID : 0x45\n"


def test_the_chip_is_that_of_the_dies(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = bench.folder / "tools"
    write(tools, {"npu-smi": f'#!/bin/sh\ncat "{tools}/$(echo "$*" | tr " " "_")"\n', "info_-m": MAPPING})
    (tools / "npu-smi").chmod(0o755)
    for npu in (0, 1):
        write(tools, {f"info_-t_board_-i_{npu}_-c_0": BOARD.format(npu=npu, name="910B3")})
    monkeypatch.delenv("SOC_VERSION")
    assert soc_for(bench.environment, bench.tree).name == "ascend910b3"
    assert soc_for(bench.environment, bench.tree, {**os.environ, "SOC_VERSION": "910b"}).name == "ascend910b3"
    for asked, name, says in (
        ("ascend910b1", "910B3", "the NPU found is ascend910b3"),
        ("", "910B1", "the dies of this host differ"),
    ):
        write(tools, {"info_-t_board_-i_1_-c_0": BOARD.format(npu=1, name=name)})
        with pytest.raises(UnusableError, match=says):
            soc_for(bench.environment, bench.tree, {**os.environ, "SOC_VERSION": asked})
    write(tools, {"info_-m": "dcmi model initialized failed, because the device is used. ret is -8020\n"})
    assert (
        soc_for(bench.environment, bench.tree, {**os.environ, "SOC_VERSION": "ascend910b1"}).name
        == "ascend910b1"
    )
    with pytest.raises(UnusableError, match="-8020"):
        soc_for(bench.environment, bench.tree)
    (tools / "npu-smi").unlink()
    with pytest.raises(UnusableError, match="no NPU was found"):
        soc_for(bench.environment, bench.tree)


def test_the_lock_s_own_tree_is_that_of_its_commit(bench: Bench) -> None:
    before = make_locked_tree(bench.environment, quiet)
    bench.change("vllm-ascend/README.md", "a", "another")
    assert make_locked_tree(bench.environment, quiet).record.tree_sha256 == before.record.tree_sha256
