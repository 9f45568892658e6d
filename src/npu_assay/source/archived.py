"""The archive's folder `source/`: what a run's vllm-ascend is, so that a stranger can judge it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from npu_assay.errors import UsageError
from npu_assay.source.listing import Listing, parse_listing
from npu_assay.source.patches import Patch
from npu_assay.source.record import SourceRecord
from npu_assay.source.tree import SourceTree
from npu_assay.strict import first_problem
from npu_assay.whole import read_whole

#: Bytes of a record, and of a listing: that of vllm-ascend has 150 KB.
_LARGEST_RECORD, _LARGEST_LISTING = 1 << 22, 1 << 26


@dataclass(frozen=True)
class ArchivedSource:
    """The files of `source/`. Names only; nothing here says that they exist."""

    root: Path

    @property
    def record(self) -> Path:
        return self.root / "source.json"

    @property
    def listing(self) -> Path:
        return self.root / "files.sha256"

    @property
    def base(self) -> Path:
        """Of the base, what is compiled: the native parts of the lock's sources, or its wheel's libraries."""
        return self.root / "base-native.sha256"

    @property
    def build(self) -> Path:
        """What the stage `build` made on hardware: the wheel's sha256, edits, chip, compilers."""
        return self.root / "build.json"

    @property
    def patches(self) -> Path:
        return self.root / "patches"


def write_source(
    where: ArchivedSource, tree: SourceTree, patches: Sequence[Patch], base: Listing | None
) -> None:
    """Write the folder; `base` is None where nothing is held against it."""
    where.root.mkdir()
    where.record.write_text(tree.record.model_dump_json(indent=2) + "\n")
    where.listing.write_bytes(tree.listing().data)
    if base is not None:
        where.base.write_bytes(base.data)
    if patches:
        where.patches.mkdir()
    for patch, record in zip(patches, tree.record.patches, strict=True):
        (where.patches / record.file).write_bytes(patch.data)


def read_record(where: ArchivedSource) -> SourceRecord:
    """Read source.json. Raises UsageError that names the first thing wrong in it."""
    try:
        return SourceRecord.model_validate_json(read_whole(where.record, str(where.record), _LARGEST_RECORD))
    except ValidationError as error:
        raise UsageError(f"{where.record}: {first_problem(error)}") from error


def read_listing(path: Path) -> Listing:
    """Read one of the listings. Raises UsageError for what is none."""
    return parse_listing(read_whole(path, str(path), _LARGEST_LISTING), str(path))
