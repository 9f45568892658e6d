"""A source that was exported: its files, before any patch, and what was known of where they come from.

Whoever takes it needs neither git nor the repository nor the folder, and records the same commit. The hash of
the files stands beside the commit, so that others are not taken for it.
"""

import shutil
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from npu_assay.errors import UsageError
from npu_assay.source.listing import list_tree
from npu_assay.source.location import EXPORTED_ORIGIN
from npu_assay.source.origin import Origin
from npu_assay.source.record import Sha256
from npu_assay.strict import Strict, first_problem
from npu_assay.whole import read_whole

_LARGEST_ORIGIN = 1 << 20
_AGAIN = "export it again: npu-assay build --export"
_NOTE = "exported before, by npu-assay build --export"
_NO_GIT = "it was exported without .git, so its commit is not known"


class ExportedOrigin(Strict):
    """origin.json: an Origin, and the hash of the files."""

    kind: Literal["folder", "git"]
    given: str
    commit: str | None
    dirty: bool | None
    tag: str | None
    notes: tuple[str, ...]
    tree_sha256: Sha256


def files_of(folder: Path) -> Path:
    """The folder of its files."""
    return folder / "tree"


def write_origin(folder: Path, origin: Origin) -> None:
    """Write origin.json beside the files, which are complete."""
    assert origin.kind in ("folder", "git"), "the others are one file already"
    record = ExportedOrigin(
        kind=origin.kind,
        given=origin.given,
        commit=origin.commit,
        dirty=origin.dirty,
        tag=origin.tag,
        notes=origin.notes,
        tree_sha256=list_tree(files_of(folder)).sha256,
    )
    (folder / EXPORTED_ORIGIN).write_text(record.model_dump_json(indent=2) + "\n")


def parse_origin(data: bytes, name: str) -> ExportedOrigin:
    """The record in the bytes of an origin.json. Raises UsageError that begins with `name`."""
    try:
        return ExportedOrigin.model_validate_json(data)
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error)}; {_AGAIN}") from error


def take_exported(folder: Path, into: Path) -> Origin:
    """Copy its files to `into`, a new folder. Raises UsageError where they are not what was exported."""
    path = folder / EXPORTED_ORIGIN
    record = parse_origin(read_whole(path, str(path), _LARGEST_ORIGIN), str(path))
    if files_of(folder).is_dir():
        shutil.copytree(files_of(folder), into, symlinks=True, dirs_exist_ok=True)
    if list_tree(into).sha256 != record.tree_sha256:
        raise UsageError(f"{files_of(folder)}: not the files that {path} is about; {_AGAIN}")
    return Origin(
        kind=record.kind,
        given=record.given,
        commit=record.commit,
        dirty=record.dirty,
        tag=record.tag,
        notes=(*record.notes, *[_NO_GIT] * (record.commit is None), _NOTE),
    )
