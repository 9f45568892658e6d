"""Where published archives stand in a checkout, and how they are called."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest
from npu_assay.evidence.merged.part import shard_folders
from npu_assay.evidence.merged.record import read_record
from npu_assay.printable import printable

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MOST = 100
"""Characters of a name; a file system allows 255 bytes, and the stage's name comes after it."""
_EMULATED = "emulated"


@dataclass(frozen=True)
class Publication:
    """The published archives of a checkout. Names of files only; nothing here says that they exist."""

    checkout: Path

    @property
    def logs(self) -> Path:
        return self.checkout / "logs"

    @property
    def sums(self) -> Path:
        return self.checkout / "SHA256SUMS"

    @property
    def staging(self) -> Path:
        """What is being published, until it takes its place."""
        return self.logs / ".publishing"

    def archive(self, name: str) -> Archive:
        return Archive(self.logs / name)

    def archives(self) -> dict[str, Archive]:
        """Name -> archive, of every folder under logs/."""
        folders = sorted(path for path in self.logs.glob("*") if path.is_dir() and path != self.staging)
        return {folder.name: Archive(folder) for folder in folders}


def default_name(archive: Archive, emulated: bool) -> str:
    """The environment's name, with `-emulated` after it where the run was."""
    if archive.is_merged:
        environment = read_record(archive.merged).environment
    else:
        environment = read_manifest(archive.manifest).environment.name
    return f"{environment}-{_EMULATED}" if emulated else environment


def check_name(name: str, emulated: bool) -> None:
    """Raises UsageError for a name that is none, or that hides that the run was emulated."""
    if len(name) > _MOST or not _NAME.fullmatch(name):
        raise UsageError(
            f"--name {printable(name)}: expected lower-case letters, digits and dashes, at most {_MOST}"
        )
    if emulated and not says_emulated(name):
        raise UsageError(
            f"--name {name}: the run was emulated, and its name has to say so: {name}-{_EMULATED}"
        )


def says_emulated(name: str) -> bool:
    """Whether a reader of the name is told that the run was emulated."""
    return _EMULATED in name.split("-")


def ruled_by_git(name: str) -> bool:
    """Whether git would act on a file of that name, such as .gitattributes, and not just keep it."""
    return any(part.lower().startswith(".git") for part in PurePosixPath(name).parts)


def stage_logs(name: str, archive: Archive) -> dict[str, Path]:
    """Name of the published log -> the archive's own, for every stage that left one.

    Raises UsageError for an archive whose manifest can't be read.
    """
    if not archive.is_merged:
        return _logs_of(name, archive, read_manifest(archive.manifest), {})
    shards = [Archive(folder) for folder in shard_folders(archive)]
    manifests = [read_manifest(shard.manifest) for shard in shards]
    ran = [
        stage.name
        for manifest in manifests
        for stage in manifest.stages
        if stage.status is not StageStatus.NOT_RUN
    ]
    logs: dict[str, Path] = {}
    for shard, manifest in zip(shards, manifests, strict=True):
        shared = {stage: f"-{shard.root.name}" for stage in ran if ran.count(stage) > 1}
        logs |= _logs_of(name, shard, manifest, shared)
    return logs


def _logs_of(name: str, archive: Archive, manifest: Manifest, ends: Mapping[str, str]) -> dict[str, Path]:
    logs = {stage.name: archive.stage_log(stage.name) for stage in manifest.stages}
    return {
        f"{name}-{stage}{ends.get(stage, '')}.log": path for stage, path in logs.items() if path.is_file()
    }
