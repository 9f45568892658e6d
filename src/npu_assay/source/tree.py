"""The tree of a run: exported, patched, listed, and kept in the cache under its hash."""

import errno
import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from npu_assay.cache import KEY_LENGTH, in_use, make_folder, writing
from npu_assay.errors import UnusableError, UsageError
from npu_assay.printable import printable
from npu_assay.source.export import export, require_vllm_ascend
from npu_assay.source.listing import Listing, list_tree, parse_listing
from npu_assay.source.location import Location, Wheel
from npu_assay.source.origin import Origin
from npu_assay.source.patches import Patch, apply_patches
from npu_assay.source.record import PatchRecord, SourceRecord
from npu_assay.source.version import tree_version

Report = Callable[[str], None]

FOLDER = "trees"
LISTING = "files.sha256"


@dataclass(frozen=True)
class SourceTree:
    """A tree in the cache, and what the run says about it."""

    root: Path
    """trees/<key>."""
    record: SourceRecord

    @property
    def files(self) -> Path:
        """The folder of its files. Nobody writes there."""
        return self.root / "tree"

    @property
    def is_wheel(self) -> bool:
        """Whether it is an unpacked wheel: there is nothing to build, and no tests come with it."""
        return not (self.files / "setup.py").exists()

    def listing(self) -> Listing:
        """Its listing. Raises UsageError where the cache was changed."""
        path = self.root / LISTING
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.record.tree_sha256:
            raise UsageError(f"{path}: changed since it was written; remove {self.root} and try again")
        return parse_listing(data, str(path))


@dataclass(frozen=True)
class Wanted:
    """A tree to make."""

    location: Location
    patches: tuple[Patch, ...] = ()
    locks: str = ""
    """The lock's own, in words, where the tree is that; its version is the lock's."""


def make_tree(wanted: Wanted, lock_version: str, cache: Path, report: Report) -> SourceTree:
    """Export, patch and list a tree, and keep it under its hash.

    Raises UsageError for whatever is wrong with the source or a patch, UnusableError for a cache that can't
    be written to and where git is missing; nothing half-made is left.
    """
    if wanted.patches and isinstance(wanted.location, Wheel):
        raise UsageError(
            f"--patch {wanted.patches[0].path}: {wanted.location.path.name} is a wheel, so built already;"
            " give a folder, git+URL@REF or a source distribution with --vllm-ascend"
        )
    parent = cache / FOLDER
    with _draft_in(parent) as draft, in_use(draft), writing(draft):  # no env prune takes it for a left-over
        return _make(wanted, lock_version, parent, draft / "tree", report)


def find_tree(record: SourceRecord, cache: Path) -> SourceTree:
    """The tree that a record names. Raises UnusableError where the cache no longer has it."""
    tree = SourceTree(_folder(cache / FOLDER, record.tree_sha256), record)
    if not (tree.root / LISTING).is_file():
        raise UnusableError(f"{tree.root}: the tree is not in the cache; type npu-assay run again")
    return tree


@contextmanager
def _draft_in(parent: Path) -> Iterator[Path]:
    """A folder to export into, gone afterwards.

    It is beside the trees, or, where none may be added to them, a temporary one: the tree may be among them,
    as it is in an image with a read-only root.
    """
    name = {"prefix": ".", "suffix": ".part"}
    with writing(parent, {errno.ENOENT}):  # what the kernel says of a new folder in /proc
        try:
            parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(**name, dir=parent))
        except OSError:
            if not parent.is_dir():
                raise
            draft = Path(tempfile.mkdtemp(**name))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)


def _make(wanted: Wanted, lock_version: str, parent: Path, draft: Path, report: Report) -> SourceTree:
    draft.mkdir()
    origin = export(wanted.location, draft, parent.parent, report)
    listing = apply_patches(wanted.patches, draft)
    require_vllm_ascend(wanted.location, draft, f"{origin.given} with its patches")
    if wanted.locks:
        origin = replace(origin, kind="lock", given=wanted.locks)
    root = _folder(parent, listing.sha256)

    def keep(folder: Path) -> Mapping[str, object]:
        draft.rename(folder / "tree")
        (folder / LISTING).write_bytes(listing.data)
        return {"sha256": listing.sha256, "given": origin.given}

    record = _record(wanted, origin, listing, draft, lock_version)
    make_folder(root, keep, lambda: report(f"waiting for another npu-assay that makes {root}"))
    if list_tree(root / "tree").data != listing.data:
        raise UnusableError(f"{root / 'tree'}: changed since it was written; remove {root} and try again")
    return SourceTree(root, record)


def _record(wanted: Wanted, origin: Origin, listing: Listing, tree: Path, lock_version: str) -> SourceRecord:
    version = tree_version(tree, listing.sha256, origin, lock_version)
    locks = origin.kind == "lock"
    return SourceRecord(
        kind=origin.kind,
        given=printable(origin.given),
        commit=origin.commit,
        dirty=origin.dirty,
        sha256=origin.sha256,
        patches=tuple(_patch_record(number, patch) for number, patch in enumerate(wanted.patches, start=1)),
        tree_sha256=listing.sha256,
        files=len(listing.files),
        version=lock_version if locks else version.version,
        version_from="the lock" if locks else version.read_from,
        notes=tuple(printable(note) for note in origin.notes),
    )


def _patch_record(number: int, patch: Patch) -> PatchRecord:
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", patch.path.name)
    return PatchRecord(name=printable(patch.path.name), file=f"{number:04}-{plain}", sha256=patch.sha256)


def _folder(parent: Path, sha256: str) -> Path:
    return parent / sha256[:KEY_LENGTH]
