"""Patches: which files they are, and applying them to a tree, in order, by git itself."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from npu_assay.errors import UsageError
from npu_assay.printable import printable
from npu_assay.source.git import GitError, git
from npu_assay.source.hunks import Hunk, hunks_of
from npu_assay.source.listing import Listing, list_tree

_SUFFIXES = (".patch", ".diff")
_SERIES = "series"
_SERIES_LINE = re.compile(r"(?P<name>\S+)(?:\s+-p(?P<strip>\d))?")
#: `patch failed: FILE:LINE`, where LINE is the one that the hunk's header names (git's apply.c).
_FAILED = re.compile(r"patch failed: (?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True)
class Patch:
    """A patch file, read."""

    path: Path
    data: bytes
    strip: int = 1
    """How many leading folders of names are none: patch's -p."""

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


def read_patches(paths: Sequence[Path]) -> tuple[Patch, ...]:
    """The patches that files and folders name, in order.

    A folder's are those of its `series` (quilt's), else its *.patch and *.diff, sorted by name. Raises
    UsageError for one that is not there, can't be read or is empty, and for a folder without any.
    """
    return tuple(patch for path in paths for patch in _read(path))


def _read(path: Path) -> Iterator[Patch]:
    if not path.is_dir():
        yield _read_one(path)
    elif (path / _SERIES).is_file():
        yield from _read_series(path)
    else:
        files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES and file.is_file())
        if not files:
            raise UsageError(f"--patch {path}: no series and no *.patch or *.diff in it")
        for file in files:
            yield _read_one(file)


def _read_series(folder: Path) -> Iterator[Patch]:
    series = folder / _SERIES
    found = False
    for number, line in enumerate(series.read_text(errors="replace").splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        match = _SERIES_LINE.fullmatch(line)
        name = PurePosixPath(match["name"]) if match else None
        if match is None or name is None or name.is_absolute() or ".." in name.parts:
            raise UsageError(
                f"{series}:{number}: expected a patch of this folder, and -pN or nothing: {line!r}"
            )
        found = True
        yield _read_one(folder / name, int(match["strip"] or 1))
    if not found:
        raise UsageError(f"{series}: names no patch")


def _read_one(path: Path, strip: int = 1) -> Patch:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"--patch {path}: can't be read: {error.strerror}") from error
    if not data.strip():
        raise UsageError(f"--patch {path}: empty; make it again with git diff or git format-patch")
    return Patch(path, data, strip)


def apply_patches(patches: Sequence[Patch], tree: Path) -> Listing:
    """Apply the patches to a tree in place, in order; the tree's listing afterwards.

    Context has to match to the byte (lines may have moved). A failing patch raises UsageError and changes
    nothing; those before it stay applied, so `tree` is a folder that is thrown away then.
    """
    before = list_tree(tree)
    for patch in patches:
        _apply(patch, tree)
        try:
            after = list_tree(tree)
        except UsageError as error:
            raise UsageError(f"--patch {patch.path}: {error}") from error
        if after.data == before.data:
            raise UsageError(
                f"--patch {patch.path}: changes nothing in the tree; leave it out, or make it again"
            )
        before = after
    return before


def _apply(patch: Patch, tree: Path) -> None:
    try:
        _git_apply(patch, tree)
    except GitError as error:
        why = "is in this tree already; leave it out" if _is_in(tree, patch) else _why(patch, str(error))
        raise UsageError(f"--patch {patch.path}: {why}") from error


def _is_in(tree: Path, patch: Patch) -> bool:
    try:
        _git_apply(patch, tree, "--reverse", "--check")
    except GitError:
        return False
    return True


def _git_apply(patch: Patch, tree: Path, *options: str) -> None:
    settings = ["-c", "core.autocrlf=false", "-c", "apply.ignoreWhitespace=no"]
    git(
        [*settings, "apply", *options, f"-p{patch.strip}", "--whitespace=nowarn", "-"],
        folder=tree,
        stdin=patch.data,
        # No repository above the tree: git would leave out what is outside of it, without a word.
        variables={"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent)},
    )


def _why(patch: Patch, said: str) -> str:
    advice = "make it again against this tree (git diff, git format-patch)"
    failed = _FAILED.fullmatch(said)
    if failed is None:
        if "No valid patches" in said or "unrecognized input" in said:
            return f"no patch in it; {advice}"
        return f"does not apply: {printable(said)}; {advice}"
    hunk = _hunk_at(hunks_of(patch.data, patch.strip), failed["file"], int(failed["line"]))
    where = f"hunk {hunk.number}: {printable(hunk.header)}" if hunk else f"line {failed['line']}"
    return f"does not apply to {printable(failed['file'])}, {where}: its context is not there; {advice}"


def _hunk_at(hunks: Sequence[Hunk], file: str, line: int) -> Hunk | None:
    return next((hunk for hunk in hunks if hunk.file == file and hunk.old_line == line), None)
