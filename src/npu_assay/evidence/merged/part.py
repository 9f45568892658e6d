"""An archive that is one shard of a run, and what must be the same in all of them."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, open_archive
from npu_assay.evidence.bounded import read_whole
from npu_assay.evidence.document import read_document
from npu_assay.evidence.manifest import Manifest, ShardRecord, StageRecord, StageStatus, read_manifest

_MOST_OF_A_PIPELINE = 1 << 20
"""Bytes; a pipeline file has some thousand."""


@dataclass(frozen=True)
class Part:
    """The archive of one shard."""

    name: str
    """What messages call it: the folder as the user named it, or where it is in the merged archive."""
    archive: Archive
    manifest: Manifest
    shard: ShardRecord
    every_shard: frozenset[str]
    """Stages that each shard runs, by the pipeline file that the run was made from."""

    @property
    def ran(self) -> dict[str, StageRecord]:
        """The stages that were this shard's to run, whatever came of them, in the order of the pipeline."""
        return {
            stage.name: stage for stage in self.manifest.stages if stage.status is not StageStatus.NOT_RUN
        }

    @cached_property
    def cann_identity(self) -> str:
        """Which CANN the run's processes had loaded, by its environment.json; empty where that says none."""
        try:
            facts = read_document(self.archive.environment, self.archive.environment.name)
        except UsageError:
            return ""
        return str(facts.get("cann_identity", ""))


def read_part(root: Path, name: str) -> Part:
    """The shard at `root`.

    Raises UsageError for a merged archive, one of a run that was not divided, and one without the pipeline
    file, which says what every shard has.
    """
    archive = open_archive(root)
    if archive.is_merged:
        raise UsageError(f"{name}: merged already; name the archives that were made with run --shard")
    manifest = read_manifest(archive.manifest)
    if manifest.shard is None:
        raise UsageError(f"{name}: not a shard: the run was not divided, as run --shard I/N does")
    return Part(name, archive, manifest, manifest.shard, _every_shard(archive, manifest, name))


def shard_folders(merged: Archive) -> list[Path]:
    """The folders of a merged archive's shards, whatever is in them; none in another archive."""
    if not merged.is_merged:
        return []
    return sorted(path for path in merged.shards.glob("*") if path.is_dir() and not path.is_symlink())


def parts_of(merged: Archive) -> list[Part]:
    """The shards of a merged archive, each named by its place in it. Raises as `read_part` does."""
    return [read_part(folder, folder.relative_to(merged.root).as_posix()) for folder in shard_folders(merged)]


def _every_shard(archive: Archive, manifest: Manifest, name: str) -> frozenset[str]:
    """Read without the model of a pipeline file, which stands in a room above this one."""
    data = read_whole(archive.pipeline, f"{name}: inputs/pipeline.toml", _MOST_OF_A_PIPELINE)
    try:
        stages = tomllib.loads(data.decode())["stage"]
        every = frozenset(str(stage["name"]) for stage in stages if stage.get("every_shard") is True)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{name}: inputs/pipeline.toml: not a pipeline file ({error})") from error
    if (found := hashlib.sha256(data).hexdigest()) != manifest.pipeline.sha256:
        raise UsageError(
            f"{name}: inputs/pipeline.toml: sha256 is {found}, manifest.json says {manifest.pipeline.sha256}"
        )
    return every
