"""Is what a checkout publishes as it was published? Its SHA256SUMS, both ways, each archive and each log."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive, Discrepancy, check, reading
from npu_assay.evidence.contents import contents_of, hash_files
from npu_assay.evidence.manifest import read_manifest
from npu_assay.evidence.merged.record import read_record
from npu_assay.evidence.publication.layout import Publication, ruled_by_git, says_emulated, stage_logs
from npu_assay.sums import parse_sums


def check_published(publication: Publication) -> list[Discrepancy]:
    """Every difference, by name.

    Raises UsageError where nothing is published, SHA256SUMS is malformed, or something is being published.
    """
    logs = publication.logs
    if not logs.is_dir() or not publication.sums.is_file():
        raise UsageError(
            f"{publication.checkout}: no logs/ with a SHA256SUMS beside it; name a checkout in which"
            " archive publish has put an archive"
        )
    with reading(logs):
        contents = contents_of(logs)
        if contents.special:  # nothing is opened then
            problem = "not a regular file; an archive holds nothing else"
            return [Discrepancy(f"{logs.name}/{name}", problem) for name in sorted(contents.special)]
        listed = parse_sums(publication.sums.read_bytes(), str(publication.sums))
        hashes = {f"{logs.name}/{name}": found for name, found in hash_files(logs, contents.sizes).items()}
        return [
            *_leftovers(publication),
            *(Discrepancy(name, "git acts on such a file") for name in sorted(hashes) if ruled_by_git(name)),
            *_sums(hashes, listed),
            *_archives(publication),
            *_logs(publication, hashes),
        ]


def _leftovers(publication: Publication) -> Iterator[Discrepancy]:
    if publication.staging.exists():
        name = publication.staging.relative_to(publication.checkout).as_posix()
        yield Discrepancy(name, "left by a publication that was ended; publish again")


def _sums(hashes: Mapping[str, str | OSError], listed: Mapping[str, str]) -> Iterator[Discrepancy]:
    for name in sorted(hashes.keys() | listed.keys()):
        found = hashes.get(name)
        if name not in listed:
            yield Discrepancy(name, "not in SHA256SUMS")
        elif found is None:
            yield Discrepancy(name, "in SHA256SUMS, but no file under logs/")
        elif isinstance(found, OSError):
            yield Discrepancy(name, f"can't be read ({found.strerror})")
        elif found != listed[name]:
            yield Discrepancy(name, f"changed: sha256 is {found}, SHA256SUMS says {listed[name]}")


def _archives(publication: Publication) -> Iterator[Discrepancy]:
    for name, archive in publication.archives().items():
        try:
            for problem in check(archive):
                inside = f"logs/{name}/{problem.name}"
                yield Discrepancy(inside, f"by the archive's own SHA256SUMS: {problem.problem}")
            if _kind(archive) == "emulated" and not says_emulated(name):
                yield Discrepancy(f"logs/{name}", "was emulated, which its name does not say")
        except AssayError as error:
            yield Discrepancy(f"logs/{name}", f"no archive: {error}")


def _kind(archive: Archive) -> str:
    if archive.is_merged:
        return read_record(archive.merged).device_kind
    return read_manifest(archive.manifest).device.kind


def _logs(publication: Publication, hashes: Mapping[str, str | OSError]) -> Iterator[Discrepancy]:
    """The logs beside the archives are those of the archives, all of them and no others."""
    expected: dict[str, Path] = {}
    for name, archive in publication.archives().items():
        try:
            expected |= stage_logs(name, archive)
        except AssayError:
            continue  # said of the archive already
    there = {path.name for path in publication.logs.glob("*") if path.is_file()}
    for log in sorted(expected.keys() | there):
        if log not in expected:
            yield Discrepancy(f"logs/{log}", "the log of no archive under logs/")
        elif log not in there:
            yield Discrepancy(f"logs/{log}", f"missing; the archive has {expected[log].name}")
        elif hashes[f"logs/{log}"] != hashes[expected[log].relative_to(publication.checkout).as_posix()]:
            yield Discrepancy(f"logs/{log}", "not what the archive has")
