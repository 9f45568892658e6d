"""What a comparison needs of an archive, also as a file: the baseline that later archives are held against.

A baseline has no checksums and is no evidence; the digest of SHA256SUMS says of which archive it is.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat

from npu_assay.comparison.facts import Fact
from npu_assay.comparison.performance import PerformanceRun
from npu_assay.comparison.stages import StageFacts
from npu_assay.comparison.tokens import Answer
from npu_assay.errors import UsageError
from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.manifest import Name, UtcTime
from npu_assay.evidence.strict_json import read_strictly
from npu_assay.source.record import Sha256
from npu_assay.strict import Strict

#: Of the largest baseline: the answers of an accuracy run are some 10 MB.
MOST_BYTES = 256 << 20


class Baseline(Strict):
    """One side of a comparison."""

    schema_version: Literal[1] = 1
    sums_sha256: Sha256
    """Of the archive's SHA256SUMS."""
    pipeline: Name
    environment: str
    emulated: bool
    started: UtcTime
    facts: tuple[Fact, ...]
    stages: Annotated[tuple[StageFacts, ...], Field(min_length=1)]
    performance: tuple[PerformanceRun, ...]
    """Measured rounds; those that warm up are left out."""
    answers: tuple[Answer, ...]
    round_seconds: dict[str, tuple[NonNegativeFloat, ...]]
    """Times that are shown and never judged: what was timed -> seconds of each round."""


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write it atomically. Raises UsageError rather than overwrite a file that is no baseline."""
    if path.exists():
        read_baseline(path)
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it or choose another file")
    write_atomically(path, baseline.model_dump_json(indent=1).encode() + b"\n")


def read_baseline(path: Path) -> Baseline:
    """Read one. Raises UsageError that names the first thing which is wrong in it."""
    return read_strictly(path, str(path), Baseline, MOST_BYTES)
