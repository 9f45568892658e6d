"""Is what a checkout publishes as it was published? Its SHA256SUMS, both ways, each archive and each log."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from npu_assay.digest import sha256_of
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive, Discrepancy, check, special_files
from npu_assay.evidence.manifest import read_manifest
from npu_assay.evidence.merged.record import read_record
from npu_assay.evidence.publication.layout import Publication, says_emulated, stage_logs
from npu_assay.evidence.publication.publish import published_files
from npu_assay.sums import parse_sums


def check_published(publication: Publication) -> list[Discrepancy]:
    """Every difference, by name. Raises UsageError where nothing is published, or SHA256SUMS is malformed."""
    if not publication.logs.is_dir() or not publication.sums.is_file():
        raise UsageError(
            f"{publication.checkout}: no logs/ with a SHA256SUMS beside it; name a checkout in which"
            " archive publish has put an archive"
        )
    special = [path.relative_to(publication.checkout).as_posix() for path in special_files(publication.logs)]
    if special:  # nothing is opened then
        return [Discrepancy(name, "not a regular file; an archive holds nothing else") for name in special]
    listed = parse_sums(publication.sums.read_bytes(), str(publication.sums))
    return [*_sums(publication, listed), *_archives(publication), *_logs(publication)]


def _sums(publication: Publication, listed: Mapping[str, str]) -> Iterator[Discrepancy]:
    present = {
        path.relative_to(publication.checkout).as_posix(): path for path in published_files(publication)
    }
    if publication.staging.exists():
        yield Discrepancy("logs/.publishing", "left by a publication that was ended; publish again")
    for name in sorted(present.keys() | listed.keys()):
        if name not in listed:
            yield Discrepancy(name, "not in SHA256SUMS")
        elif name not in present:
            yield Discrepancy(name, "in SHA256SUMS, but no file under logs/")
        elif (found := sha256_of(present[name])) != listed[name]:
            yield Discrepancy(name, f"changed: sha256 is {found}, SHA256SUMS says {listed[name]}")


def _archives(publication: Publication) -> Iterator[Discrepancy]:
    for name, archive in publication.archives().items():
        try:
            for problem in check(archive):
                yield Discrepancy(
                    f"logs/{name}/{problem.name}", f"by the archive's own SHA256SUMS: {problem.problem}"
                )
            if _kind(archive) == "emulated" and not says_emulated(name):
                yield Discrepancy(f"logs/{name}", "was emulated, which its name does not say")
        except AssayError as error:
            yield Discrepancy(f"logs/{name}", f"no archive: {error}")


def _kind(archive: Archive) -> str:
    if archive.is_merged:
        return read_record(archive.merged).device_kind
    return read_manifest(archive.manifest).device.kind


def _logs(publication: Publication) -> Iterator[Discrepancy]:
    """The logs beside the archives are those of the archives, all of them and no others."""
    expected: dict[str, Path] = {}
    for name, archive in publication.archives().items():
        try:
            expected |= stage_logs(name, archive)
        except AssayError:
            continue  # said of the archive already
    there = {path.name: path for path in publication.logs.glob("*") if path.is_file()}
    for log in sorted(expected.keys() | there.keys()):
        if log not in expected:
            yield Discrepancy(f"logs/{log}", "the log of no archive under logs/")
        elif log not in there:
            yield Discrepancy(f"logs/{log}", f"missing; the archive has {expected[log].name}")
        elif sha256_of(there[log]) != sha256_of(expected[log]):
            yield Discrepancy(f"logs/{log}", "not what the archive has")
