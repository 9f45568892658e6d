"""What is in the cache that nothing needs: what other locks and checkouts made, and what runs left.

Only folders right below the cache's own are looked at. One whose lock is held (somebody makes it, or a
run uses it), or that a process has in its command line, libraries, variables or as its place, is in use and
stays. Relative paths and links count as what they mean.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cache import COMPLETE, facts_of, is_complete
from npu_assay.environment.ascend_build.locked_build import locked_build
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import Kind, load_lock, lock_names
from npu_assay.errors import UnusableError

#: What runs of a vllm-ascend of one's own leave. No lock names it, so it goes unless it is in use.
OF_RUNS = ("trees", "builds", "native", "repositories")
FOLDERS = ("environments", "emulator", "adaptations", *OF_RUNS)


@dataclass(frozen=True)
class Prunable:
    """A folder that nothing needs."""

    path: Path
    size: int
    """Bytes on disk; a file that has several names counts once."""
    why: str


@dataclass(frozen=True)
class Pruning:
    """What a pruning would do."""

    unused: tuple[Prunable, ...]
    in_use: tuple[Path, ...]
    """Unneeded, but used by somebody at this moment."""


def needed(cache: Path, environments: Iterable[Environment]) -> set[Path]:
    """The folders that these environments use now."""
    found: set[Path] = set()
    for environment in environments:
        found |= {environment.root, environment.adaptations_folder}
        # One that is not made yet will be by a stage of the run, which has to have its lock.
        if environment.tree is not None and is_complete(environment.build_folder):
            found.add(environment.build_folder)
        if (built := locked_build(environment)) is not None:
            found |= {built, environment.cache / "native" / str(facts_of(built).get("native"))}
        if environment.variant.provider == "emulated":
            found.add(environment.cann.root.parent)
    return {path for path in found if path.is_relative_to(cache)}


def all_environments(cache: Path) -> list[Environment]:
    """Both variants of every lock of this checkout."""
    found: list[Environment] = []
    kinds: tuple[Kind, ...] = ("emulated", "hardware")
    for name in lock_names():
        lock = load_lock(name)
        for kind in kinds:
            if kind == "hardware" or not lock.content.hardware_only:
                found.append(Environment.of(lock, kind, cache))
    return found


#: The benchmarks' own environments, which no lock names.
_OF_BENCHMARKS = "cpu-engine-"


def plan(
    cache: Path,
    needed: set[Path],
    *,
    everything: bool = False,
    older_than_days: float = 0,
    now: float | None = None,
) -> Pruning:
    """What can go: everything that is not needed and was not made within the last days.

    With `everything`, what is needed goes too, and the environments of benchmarks/.
    """
    unused: list[Prunable] = []
    in_use: list[Path] = []
    newest = (time.time() if now is None else now) - older_than_days * 86400
    running = _running()
    for path in _folders(cache):
        spared = path in needed or path.name.startswith(_OF_BENCHMARKS)
        if (spared and not everything) or _made(path) > newest:
            continue
        if _is_held(path) or any(f"{name}/" in running for name in {path, path.resolve()}):
            in_use.append(path)
        else:
            unused.append(Prunable(path, _size(path), _why(path, needed)))
    return Pruning(tuple(unused), tuple(in_use))


def prune(pruning: Pruning) -> Iterator[Prunable]:
    """Remove what can go; gives each as it is gone. What somebody has locked meanwhile stays."""
    for item in pruning.unused:
        lock = _lock_of(item.path)
        with lock.open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # the lock file stays, because somebody may wait for just this one
            # First out of the way, so that what is half removed is never taken for something.
            condemned = item.path.with_name(f"{item.path.name}.removed-{os.getpid()}")
            try:
                item.path.rename(condemned)
                shutil.rmtree(condemned)
            except OSError as error:
                raise UnusableError(
                    f"can't remove {error.filename or item.path}: {error.strerror}"
                ) from error
        yield item


def _folders(cache: Path) -> Iterator[Path]:
    for name in FOLDERS:
        parent = cache / name
        if parent.is_dir() and not parent.is_symlink():
            yield from sorted(path for path in parent.iterdir() if path.is_dir() and not path.is_symlink())


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _is_held(path: Path) -> bool:
    try:
        handle = _lock_of(path).open("r")
    except FileNotFoundError:
        return False
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(handle, fcntl.LOCK_UN)
        return False


def _running(proc: Path = Path("/proc")) -> str:
    """Command lines, variables, mapped files and places of all processes that we may look at, but this one.

    The Python of an activated venv says `python` in its command line; its variables name the folder.
    """
    texts: list[str] = []
    for process in proc.glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        for name in ("cmdline", "environ", "maps"):
            with suppress(OSError):  # gone meanwhile, or somebody else's
                texts.append((process / name).read_bytes().decode(errors="replace"))
        with suppress(OSError):
            place = (process / "cwd").readlink()
            program = (process / "cmdline").read_bytes().partition(b"\0")[0].decode(errors="replace")
            texts += [f"{place}/", os.path.normpath(place / program)]
    return "\n".join(texts)


def _made(path: Path) -> float:
    complete = path / COMPLETE
    return (complete if complete.exists() else path).stat().st_mtime


def _why(path: Path, needed: set[Path]) -> str:
    if path in needed or path.name.startswith(_OF_BENCHMARKS):
        return "this checkout's"
    if not (path / COMPLETE).exists():
        return "half-made"
    if path.parent.name in OF_RUNS:
        return "of a vllm-ascend of one's own; made again when a run asks for it"
    return "no lock or source of this checkout names it"


def _size(path: Path) -> int:
    seen: set[tuple[int, int]] = set()
    size = 0
    for folder, _, files in os.walk(path):
        for name in files:
            status = Path(folder, name).lstat()
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                size += status.st_blocks * 512
    return size
