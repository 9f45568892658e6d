"""merged.json: which shards an archive was joined from, and which host ran what.

Nothing in it is new: it is what the manifests of the shards say, and `verify` makes it again from them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from npu_assay.digest import sha256_of
from npu_assay.evidence.manifest import (
    HostRecord,
    Name,
    PipelineRecord,
    ShardRecord,
    StageStatus,
    UtcTime,
)
from npu_assay.evidence.merged.part import Part
from npu_assay.evidence.record import Record
from npu_assay.evidence.strict_json import read_strictly
from npu_assay.source.record import Sha256


class RanStage(Record):
    """A stage that a shard ran, or would have: none of another shard's."""

    name: Name
    status: StageStatus
    seconds: Annotated[float, Field(ge=0)] | None
    """None when it was not started."""


class JoinedShard(Record):
    """One shard of the merged archive."""

    folder: Annotated[str, Field(pattern=r"^shards/[0-9]+-of-[0-9]+$")]
    shard: ShardRecord
    sums_sha256: Sha256
    """Of the shard's own SHA256SUMS, and so of all that it covers."""
    host: HostRecord
    started: UtcTime
    finished: UtcTime
    stages: tuple[RanStage, ...] = Field(min_length=1)

    @property
    def seconds(self) -> float:
        """From the shard's start to its end, by the host's clock."""
        return (self.finished - self.started).total_seconds()


class MergedRecord(Record):
    """The whole of merged.json."""

    schema_version: Literal[1] = 1
    pipeline: PipelineRecord
    environment: str
    """The lock's name."""
    device_kind: Literal["emulated", "hardware"]
    shards: tuple[JoinedShard, ...] = Field(min_length=1)
    """By their number."""


def folder_of(shard: ShardRecord) -> str:
    """Where the shard's archive is in a merged one."""
    return f"shards/{shard.index}-of-{shard.count}"


def record_of(parts: Sequence[Part]) -> MergedRecord:
    """What the parts say together; they agree."""
    parts = sorted(parts, key=lambda part: part.shard.index)
    first = parts[0].manifest
    return MergedRecord(
        pipeline=first.pipeline,
        environment=first.environment.name,
        device_kind=first.device.kind,
        shards=tuple(_joined(part) for part in parts),
    )


def _joined(part: Part) -> JoinedShard:
    return JoinedShard(
        folder=folder_of(part.shard),
        shard=part.shard,
        sums_sha256=sha256_of(part.archive.sums),
        host=part.manifest.host,
        started=part.manifest.started,
        finished=part.manifest.finished,
        stages=tuple(
            RanStage(name=stage.name, status=stage.status, seconds=stage.seconds)
            for stage in part.ran.values()
        ),
    )


def render_record(record: MergedRecord) -> bytes:
    """The bytes of merged.json."""
    return record.model_dump_json(indent=2).encode() + b"\n"


def read_record(path: Path) -> MergedRecord:
    """Read merged.json. Raises UsageError that names the first thing which is wrong in it."""
    return read_strictly(path, str(path), MergedRecord)
