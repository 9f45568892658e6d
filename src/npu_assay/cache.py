"""The cache folder: where it is, digests that key it, and folders that are either whole or made again.

A folder in the cache is whole when it holds `complete.json`, which is written last. Anything else is
half-made: it is removed and made again by whoever comes next, and never used.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from npu_assay.errors import UnusableError

COMPLETE = "complete.json"
KEY_LENGTH = 16

#: Left behind by Python, tools and editors; no part of any content.
_NOT_CONTENT = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "build"}


def cache_root(variables: Mapping[str, str] = os.environ) -> Path:
    """`$NPU_ASSAY_CACHE`, else `$XDG_CACHE_HOME/npu-assay`, else `~/.cache/npu-assay`; absolute."""
    if own := variables.get("NPU_ASSAY_CACHE"):
        return Path(own).expanduser().absolute()
    if xdg := variables.get("XDG_CACHE_HOME"):
        return Path(xdg).absolute() / "npu-assay"
    return Path(variables.get("HOME") or Path.home()).absolute() / ".cache" / "npu-assay"


def content_key(parts: Iterable[str]) -> str:
    """The key of a cache folder: the first 16 hex digits of the parts' sha256. Order counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:KEY_LENGTH]


def tree_digest(folder: Path) -> str:
    """sha256 over names, executable bits and bytes of all files below `folder`, without build left-overs."""
    digest = hashlib.sha256()
    for path in _content(folder):
        mode = b"x" if path.stat().st_mode & 0o100 else b"-"
        name = path.relative_to(folder).as_posix().encode()
        digest.update(mode + name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _content(folder: Path) -> list[Path]:
    found: list[Path] = []
    for here, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in _NOT_CONTENT and not f.endswith(".egg-info")]
        found += [Path(here) / f for f in files if not f.endswith((".pyc", "~", ".swp"))]
    return sorted(found)


def is_complete(folder: Path) -> bool:
    """Whether `folder` was made to its end. A file without bytes is what a crash of the machine leaves."""
    try:
        return (folder / COMPLETE).stat().st_size > 0
    except OSError:
        return False


def mark_complete(folder: Path, facts: Mapping[str, object]) -> None:
    """Write `complete.json`, atomically: from now on the folder is whole."""
    write_json(folder / COMPLETE, facts)


def facts_of(folder: Path) -> dict[str, Any]:
    """What complete.json of a whole folder says. Raises UnusableError where it is no JSON."""
    try:
        facts: dict[str, Any] = json.loads((folder / COMPLETE).read_bytes())
    except ValueError as error:
        raise UnusableError(
            f"{folder / COMPLETE}: no JSON ({error}); remove {folder} and try again"
        ) from error
    return facts


def write_json(path: Path, facts: Mapping[str, object]) -> None:
    """Write JSON so that a reader sees all of it or nothing."""
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(facts, indent=2) + "\n")
    draft.replace(path)


#: Descriptors of the locks that this process holds.
_held: list[int] = []


def held_locks() -> tuple[int, ...]:
    """To hand down to whatever works on what is locked: if we are killed, it still has the lock."""
    return tuple(_held)


@contextmanager
def folder_lock(folder: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock of a cache folder (a file beside it); calls `waiting` once if someone else has it.

    The kernel drops the lock when its process ends, however it ends, and the tools that it started have too.
    """
    with writing(folder, {errno.ENOENT}):  # what the kernel says of a new folder in /proc
        folder.parent.mkdir(parents=True, exist_ok=True)
        handle = folder.with_name(folder.name + ".lock").open("w")
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        _held.append(handle.fileno())
        try:
            yield
        finally:
            _held.remove(handle.fileno())
            # Closing alone would leave the lock with a child that was forked meanwhile.
            fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Keep a folder that is whole from being removed or made again meanwhile; any number of processes may."""
    with ExitStack() as stack:
        with suppress(OSError):  # a cache that we may not write is none that anybody prunes
            handle = stack.enter_context(folder.with_name(folder.name + ".lock").open("a"))
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield


_CANT_WRITE = {errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS}


@contextmanager
def writing(
    where: Path,
    more: Set[int] = frozenset(),
    *,
    what: str = "the cache",
    advice: str = "make room, or name another with NPU_ASSAY_CACHE",
) -> Iterator[None]:
    """Turn a cache that is full or may not be written into an UnusableError with one line.

    `more` are further error numbers that mean so where it is called. For another folder than the cache:
    `what` it is, and what to do.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _CANT_WRITE | more:
            raise
        at = error.filename or where
        raise UnusableError(f"can't write {what}: {at}: {error.strerror}; {advice}") from error


def make_folder(
    folder: Path,
    make: Callable[[Path], Mapping[str, object]],
    waiting: Callable[[], None] = lambda: None,
    fits: Callable[[Mapping[str, Any]], bool] = lambda facts: True,
) -> bool:
    """Make `folder` whole if it is not; `make(folder)` fills it and returns the facts for complete.json.

    One whose facts do not fit is made again. Returns whether it was made now. Safe against others doing the
    same, and against being interrupted.
    """

    def is_made() -> bool:
        return is_complete(folder) and fits(facts_of(folder))

    if is_made():
        return False
    with folder_lock(folder, waiting):
        if is_made():
            return False
        with writing(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            mark_complete(folder, make(folder))
    return True
