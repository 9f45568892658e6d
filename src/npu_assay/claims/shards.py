"""The shards of a merged archive as cases of their own, and their findings as those of the whole."""

from collections.abc import Mapping
from dataclasses import replace

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Finding
from npu_assay.errors import AssayError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import StageStatus, read_manifest
from npu_assay.evidence.merged.part import shard_folders


def cases_of_shards(case: Case) -> dict[str, Case]:
    """Folder in the merged archive -> its case, which knows what the other shards ran."""
    archives = {
        folder.relative_to(case.archive.root).as_posix(): Archive(folder)
        for folder in shard_folders(case.archive)
    }
    ran = {name: _ran(archive) for name, archive in archives.items()}
    return {
        name: replace(case, archive=archive, elsewhere=_elsewhere(name, ran))
        for name, archive in archives.items()
    }


def in_shard(finding: Finding, folder: str) -> Finding:
    """A shard's finding with the places where it is in the merged archive."""
    evidence = tuple(replace(place, file=f"{folder}/{place.file}") for place in finding.evidence)
    return replace(finding, message=f"{folder}: {finding.message}", evidence=evidence)


def _ran(archive: Archive) -> frozenset[str]:
    """Stages that a shard ran; none where its manifest can't be read, which is a finding about that shard."""
    try:
        stages = read_manifest(archive.manifest).stages
    except AssayError:
        return frozenset()
    return frozenset(stage.name for stage in stages if stage.status is not StageStatus.NOT_RUN)


def _elsewhere(shard: str, ran: Mapping[str, frozenset[str]]) -> dict[str, str]:
    return {stage: other for other, stages in ran.items() if other != shard for stage in stages}
