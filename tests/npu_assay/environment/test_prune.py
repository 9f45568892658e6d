"""Pruning removes what nothing needs, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from npu_assay.cache import COMPLETE, folder_lock, in_use
from npu_assay.environment.environment import Environment
from npu_assay.environment.prune import all_environments, needed, plan, prune

OLD = "cann900-vllm018-0123456789abcdef"
"""As environments were named before they had a kind."""


@pytest.fixture
def cache(small: Environment) -> Path:
    """A cache with what the small environment needs and what nothing needs."""
    for path in (
        *needed(small.cache, [small]),
        *(small.cache / path for path in UNUSED),
        of_benchmarks(small.cache),
    ):
        path.mkdir(parents=True)
        (path / COMPLETE).write_text("{}")
    (small.cache / "environments" / OLD / COMPLETE).unlink()
    (small.cache / "runs").mkdir()
    (small.cache / "environments" / "a file").touch()
    return small.cache


UNUSED = (
    f"environments/{OLD}",
    "emulator/0123456789abcdef",
    "adaptations/0123456789abcdef",
    "trees/0123456789abcdef",
    "builds/0123456789abcdef",
    "repositories/0123456789abcdef.git",
)
OF_A_RUN = "of a vllm-ascend of one's own; made again when a run asks for it"


def of_benchmarks(cache: Path) -> Path:
    """An environment of the benchmarks."""
    return cache / "environments" / "cpu-engine-0123456789abcdef"


def found(cache: Path) -> set[str]:
    return {path.relative_to(cache).as_posix() for path in cache.glob("*/*") if path.is_dir()}


def test_what_nothing_needs_goes_and_the_rest_stays(small: Environment, cache: Path) -> None:
    before = found(cache)
    pruning = plan(cache, needed(cache, [small]))
    assert {item.path.relative_to(cache).as_posix(): item.why for item in pruning.unused} == {
        UNUSED[0]: "half-made",
        UNUSED[1]: "no lock or source of this checkout names it",
        UNUSED[2]: "no lock or source of this checkout names it",
        **dict.fromkeys(UNUSED[3:], OF_A_RUN),
    }
    assert found(cache) == before, "planning changes nothing"
    assert [item.path for item in prune(pruning)] == [item.path for item in pruning.unused]
    assert found(cache) == before - set(UNUSED)
    assert (cache / "runs").is_dir()
    assert (cache / "environments" / "a file").is_file()
    assert plan(cache, needed(cache, [small])).unused == ()


def test_everything_goes_on_request(small: Environment, cache: Path) -> None:
    pruning = plan(cache, needed(cache, [small]), everything=True)
    list(prune(pruning))
    assert {item.why for item in pruning.unused} >= {"this checkout's"}
    assert found(cache) == set()
    assert (cache / "runs").is_dir()


def test_what_is_being_made_stays(small: Environment, cache: Path) -> None:
    with folder_lock(cache / UNUSED[1]):
        pruning = plan(cache, needed(cache, [small]))
        assert pruning.in_use == (cache / UNUSED[1],)
        list(prune(pruning))
        assert (cache / UNUSED[1]).is_dir()
    assert [item.path for item in plan(cache, needed(cache, [small])).unused] == [cache / UNUSED[1]]


def test_what_is_locked_after_the_plan_stays(small: Environment, cache: Path) -> None:
    pruning = plan(cache, needed(cache, [small]))
    with folder_lock(cache / UNUSED[0]):
        removed = [item.path for item in prune(pruning)]
    assert removed == [cache / path for path in UNUSED[1:]]
    assert (cache / UNUSED[0]).is_dir()


def test_what_a_process_runs_from_stays(small: Environment, cache: Path) -> None:
    script = cache / UNUSED[0] / "script.py"
    script.write_text("print('running', flush=True); input()")
    running = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"running\n"
        assert plan(cache, needed(cache, [small])).in_use == (cache / UNUSED[0],)
        running.communicate(b"\n")
    assert plan(cache, needed(cache, [small])).in_use == ()


@pytest.mark.parametrize("how", ["relative", "place", "variables", "link"])
def test_however_a_process_names_the_folder_it_stays(small: Environment, cache: Path, how: str) -> None:
    folder = cache / UNUSED[0]
    (folder / "python").symlink_to(sys.executable)
    link = cache.with_name("link")
    link.symlink_to(cache)
    command, place, variables = [sys.executable], cache, dict(os.environ)
    match how:
        case "relative":
            command = [f"{UNUSED[0]}/python"]
        case "place":
            place = folder
        case "variables":
            variables["VIRTUAL_ENV"] = f"{folder}/venv"
        case "link":
            command = [f"{folder}/python"]
    looked_at = link if how == "link" else cache
    command += ["-c", "print('running', flush=True); input()"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=place, env=variables, **streams) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"running\n"
        assert plan(looked_at, needed(cache, [small])).in_use == (looked_at / UNUSED[0],)
        running.communicate(b"\n")
    assert plan(cache, needed(cache, [small])).in_use == ()


def test_what_a_run_says_it_uses_stays(small: Environment, cache: Path) -> None:
    with in_use(cache / UNUSED[1]), in_use(cache / UNUSED[1]):  # two runs at once
        assert plan(cache, needed(cache, [small])).in_use == (cache / UNUSED[1],)
    assert plan(cache, needed(cache, [small])).in_use == ()


def test_only_what_is_old_goes(small: Environment, cache: Path) -> None:
    made = (cache / UNUSED[1] / COMPLETE).stat().st_mtime
    os.utime(cache / UNUSED[2] / COMPLETE, (made - 9 * 86400,) * 2)
    pruning = plan(cache, needed(cache, [small]), older_than_days=7, now=made + 86400)
    assert [item.path for item in pruning.unused] == [cache / UNUSED[2]]


def test_a_link_is_not_followed_out_of_the_cache(small: Environment, cache: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (cache / "emulator" / "link").symlink_to(outside)
    (cache / UNUSED[1] / "link").symlink_to(outside)
    (outside / "precious").touch()
    list(prune(plan(cache, set(), everything=True)))
    assert (outside / "precious").is_file()
    assert (cache / "emulator" / "link").is_symlink()


def test_every_variant_of_every_lock_of_ours_is_needed(tmp_path: Path) -> None:
    names = {path.name.rpartition("-")[0] for path in needed(tmp_path, all_environments(tmp_path))}
    assert {"cann900-vllm018-emulated", "cann900-vllm018-hardware", "cann851-vllm018-hardware"} <= names
