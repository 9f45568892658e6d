"""Join the archives of the shards of one run."""

from collections.abc import Sequence
from pathlib import Path

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, seal
from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.copy import copy_checked
from npu_assay.evidence.merged.agreement import disagreements
from npu_assay.evidence.merged.merged_junit import render_merged_junit
from npu_assay.evidence.merged.part import read_part
from npu_assay.evidence.merged.record import MergedRecord, folder_of, record_of, render_record


def merge(folders: Sequence[Path], target: Path) -> MergedRecord:
    """Make the merged archive of these shards in an empty folder; they are copied, and not touched.

    Raises UsageError with one line for the first thing that keeps them from being one run's.
    """
    parts = [read_part(folder, str(folder)) for folder in folders]
    for disagreement in disagreements(parts):
        raise UsageError(disagreement.message)
    merged = Archive(target)
    for part in parts:
        copy_checked(part.archive, target / folder_of(part.shard))
    record = record_of(parts)
    write_atomically(merged.merged, render_record(record))
    write_atomically(merged.junit, render_merged_junit(parts).encode())
    seal(merged)
    return record
