"""An archive, or a file that was made of one, as a side of a comparison."""

from collections.abc import Iterator
from pathlib import Path

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.emulation import sign_of_emulation
from npu_assay.claims.offload import FILE as OFFLOAD_ROUNDS
from npu_assay.comparison.baseline import Baseline, read_baseline
from npu_assay.comparison.facts import read_facts
from npu_assay.comparison.joining import joined
from npu_assay.comparison.performance import FILE as PERFORMANCE
from npu_assay.comparison.performance import read_runs
from npu_assay.comparison.stages import read_stages
from npu_assay.comparison.tokens import read_answers
from npu_assay.digest import sha256_of
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive, check, open_archive, reading
from npu_assay.evidence.jsonlines import read_rows
from npu_assay.evidence.merged.record import read_record
from npu_assay.wording import first_of


def read_side(path: Path) -> Baseline:
    """A folder is an archive, a file a baseline. Raises what reading them does."""
    return read_baseline(path) if path.is_file() else read_archive(path)


def read_archive(root: Path) -> Baseline:
    """What a comparison needs of an archive; of a merged one, of all its shards together.

    Raises AssayError, naming the file, when the archive is not what its SHA256SUMS says, and UsageError when
    it is none, a file in it can't be read, or somebody writes to it.
    """
    archive = open_archive(root)
    with reading(root):
        _require_whole(archive)
        if not archive.is_merged:
            return _of_run(archive)
        record = read_record(archive.merged)
        shards = [open_archive(root / shard.folder) for shard in record.shards]
        for shard in shards:
            _require_whole(shard)
        return joined([_of_run(shard) for shard in shards], sha256_of(archive.sums))


def _require_whole(archive: Archive) -> None:
    if discrepancies := check(archive):
        told = first_of(discrepancies[0], len(discrepancies))
        raise AssayError(f"{archive.root}: {told}; what is not as its SHA256SUMS says is not compared")


def _of_run(archive: Archive) -> Baseline:
    root, case = archive.root, Case(archive, Mode.LIMITED)
    manifest = case.manifest
    return Baseline(
        sums_sha256=sha256_of(archive.sums),
        pipeline=manifest.pipeline.name,
        environment=manifest.environment.name,
        emulated=sign_of_emulation(case) is not None,
        started=manifest.started,
        facts=read_facts(case),
        stages=read_stages(archive, manifest),
        performance=read_runs(root / PERFORMANCE, str(root)),
        answers=read_answers(archive.results, str(root)),
        round_seconds=_round_seconds(root),
    )


def _round_seconds(root: Path) -> dict[str, tuple[float, ...]]:
    """Times of the rounds of KV cache offloading: the published document calls them no evidence."""
    found: dict[str, list[float]] = {}
    for name, seconds in _timed(root / OFFLOAD_ROUNDS):
        found.setdefault(name, []).append(seconds)
    return {name: tuple(values) for name, values in found.items()}


def _timed(path: Path) -> Iterator[tuple[str, float]]:
    for row in read_rows(path) if path.is_file() else ():
        for what in ("cold", "external"):
            seconds = row.values.get(f"{what}_seconds")
            if not isinstance(seconds, int | float) or seconds <= 0:
                raise UsageError(f"{path}:{row.line}: {what}_seconds is {seconds!r}, expected more than 0")
            yield f"kv-offload {row.values.get('backend')}, {what}", float(seconds)
