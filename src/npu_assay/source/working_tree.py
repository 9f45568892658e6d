"""Exporting a folder: what git tracks and does not ignore, or everything but what builds leave behind.

Files are taken as they stand in the folder, so no filter, line ending or attribute of git has a say. Nothing
is written to the folder, and of its git only read.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from npu_assay.errors import UsageError
from npu_assay.printable import printable
from npu_assay.source.git import GitError, git
from npu_assay.source.origin import Origin
from npu_assay.source.writer import TreeWriter

#: What builds, tools and editors leave in a folder without git.
_LEFT_OVERS = re.compile(
    r"\.git|__pycache__|.*\.egg-info|\.(pytest|mypy|ruff)_cache|\.venv|.*\.so|.*\.py[co]|.*~|.*\.sw[op]"
)
#: setuptools' own folders; deeper ones of these names may be anything.
_AT_THE_TOP = ("build", "dist")
_GITLINK = "160000"


@dataclass(frozen=True)
class _Checkout:
    """A git checkout's files, submodules included, and what is not there."""

    files: tuple[str, ...]
    notes: tuple[str, ...]


def export_folder(folder: Path, into: Path) -> Origin:
    """Copy a folder's vllm-ascend into `into`, a new folder.

    Raises UsageError for what can't be read or kept, UnusableError where it is a git checkout and there is no
    git.
    """
    if (folder / ".git").exists():
        return _export_checkout(folder, into)
    _copy(folder, _without_left_overs(folder), into)
    return Origin(kind="folder", given=str(folder))


def _export_checkout(folder: Path, into: Path) -> Origin:
    try:
        commit = git(["rev-parse", "--verify", "HEAD^{commit}"], folder=folder).decode().strip()
        changes = git(
            ["status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none"],
            folder=folder,
        )
        checkout = _files_of(folder)
    except GitError as error:
        advice = "commit what is there" if "Needed a single revision" in str(error) else "mend it"
        raise UsageError(
            f"--vllm-ascend {folder}: its git does not answer: {error}; {advice}, or remove {folder / '.git'}"
        ) from error
    _copy(folder, checkout.files, into)
    return Origin(
        kind="folder",
        given=str(folder),
        commit=commit,
        dirty=bool(changes),
        tag=nearest_tag(folder, commit),
        notes=checkout.notes,
    )


def nearest_tag(folder: Path, commit: str) -> str | None:
    """The nearest tag of a release (v0.18.0) that the commit comes after; None where there is none."""
    try:
        return (
            git(["describe", "--tags", "--abbrev=0", "--match=v[0-9]*", commit], folder=folder)
            .decode()
            .strip()
        )
    except GitError:
        return None


def _files_of(folder: Path, below: str = "") -> _Checkout:
    """Tracked files that are there, others that are not ignored, and those of submodules."""
    files: dict[str, None] = {}
    notes: list[str] = []
    for entry in _fields(git(["ls-files", "-z", "--cached", "--stage"], folder=folder)):
        facts, _, name = entry.partition("\t")
        if facts.startswith(_GITLINK):
            if not (folder / name / ".git").exists():
                notes.append(f"submodule {below}{name} is not checked out")
                continue
            inner = _files_of(folder / name, f"{below}{name}/")
            files |= dict.fromkeys(inner.files)
            notes += inner.notes
        elif _stands(folder, name):  # else it was deleted
            files[below + name] = None
    for name in _fields(git(["ls-files", "-z", "--others", "--exclude-standard"], folder=folder)):
        if name.endswith("/"):
            notes.append(f"{below}{name} is a repository of its own, and left out")
        else:
            files[below + name] = None
    return _Checkout(tuple(files), tuple(notes))


def _stands(folder: Path, name: str) -> bool:
    """Whether the file is there itself, and not behind a link that took the place of its folder."""
    parents = list(PurePosixPath(name).parents)[:-1]
    return os.path.lexists(folder / name) and not any((folder / parent).is_symlink() for parent in parents)


def _fields(output: bytes) -> list[str]:
    return [os.fsdecode(field) for field in output.split(b"\0") if field]


def _without_left_overs(folder: Path) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        left = _AT_THE_TOP if Path(here) == folder else ()
        folders[:] = sorted(name for name in folders if name not in left and not _LEFT_OVERS.fullmatch(name))
        linked = [name for name in folders if Path(here, name).is_symlink()]
        for name in sorted([*names, *linked]):
            if not _LEFT_OVERS.fullmatch(name):
                yield Path(here, name).relative_to(folder).as_posix()


def _copy(folder: Path, names: Iterator[str] | tuple[str, ...], into: Path) -> None:
    writer = TreeWriter(into, f"--vllm-ascend {folder}")
    try:
        for name in names:
            path = folder / name
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                writer.link(name, str(path.readlink()))
            elif stat.S_ISREG(status.st_mode):
                with path.open("rb") as content:
                    writer.file(
                        name, content, size=status.st_size, executable=bool(status.st_mode & stat.S_IXUSR)
                    )
            elif not stat.S_ISDIR(status.st_mode):  # in place of a file that git tracks
                raise UsageError(
                    f"--vllm-ascend {folder}: {printable(name)}: no file or link; a tree holds nothing else"
                )
    except PermissionError as error:
        raise UsageError(f"--vllm-ascend {folder}: {error.filename}: {error.strerror}") from error
