"""manifest.json: what a run says about itself. The verifier compares it with the raw bytes."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AwareDatetime,
    Field,
    PlainSerializer,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.device_state import DieState
from npu_assay.evidence.image import ImageRecord
from npu_assay.evidence.loaded import LoadedRecord
from npu_assay.evidence.record import FileRecord, Record
from npu_assay.evidence.stage_inputs import StageInputs
from npu_assay.evidence.strict_json import read_strictly
from npu_assay.source.record import Sha256, SourceRecord


def _with_z(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


UtcTime = Annotated[
    AwareDatetime, PlainSerializer(_with_z), WithJsonSchema({"type": "string", "format": "date-time"})
]
#: By which times that are rounded to milliseconds may seem to lie outside of each other.
_ROUNDING = timedelta(milliseconds=2)
Setting = bool | int | float | str
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
"""Of a pipeline or stage: a part of file names."""


class StageStatus(StrEnum):
    """How a stage ended. Only `pass` is good; `not applicable` is neither good nor bad and has its reason."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"
    SKIPPED = "skipped"
    """A stage that it needs did not pass, or the run's vllm-ascend is not built."""
    INTERRUPTED = "interrupted"
    NOT_RUN = "not run"
    """Not asked for (`--stage`), or the run was interrupted before its turn."""


class StageRecord(Record):
    """One stage of the run."""

    name: Name
    status: StageStatus
    reason: str = ""
    """Why the status is not `pass`, in one line."""
    command: tuple[str, ...] = ()
    settings: dict[str, Setting] = Field(default_factory=dict)
    exit_code: int | None = None
    """None when it never ran; negative when a signal ended it, as Python's subprocess counts."""
    started: UtcTime | None = None
    seconds: float | None = Field(default=None, ge=0)
    """By the monotonic clock."""
    left_behind: tuple[str, ...] = ()
    """Processes of the stage that outlived it and were ended by the runner."""
    inputs: StageInputs | None = None
    """What its stages/<stage>.inputs.json says; None where it left none."""


class EnvironmentRecord(Record):
    """Which lock the run's environment was made from."""

    name: str
    lock_sha256: Sha256
    deviations: dict[str, str] = Field(default_factory=dict)
    """Component -> why it departs from what upstream lists."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Component -> version that the lock asks for; what was found stands in environment.json."""
    builds: dict[str, str] = Field(default_factory=dict)
    """Component -> build that the lock asks for (CANN: innerversion), of those that have one."""
    unverified: tuple[str, ...] = ()
    """Components whose lock has `unverified` in place of a sha256: formal mode refuses them."""
    notes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Component -> what is known about exactly this version."""
    absent: dict[str, str] = Field(default_factory=dict)
    """Component of the lock that the emulator goes without -> why."""
    rebuilt: dict[str, str] = Field(default_factory=dict)
    """File, below site-packages, that was compiled here in place of its wheel's -> sha256."""


class DieRecord(Record):
    """A die, as npu-smi showed it when the run took it; null for what it does not show."""

    npu_id: int | None
    chip_id: int | None
    logical_id: int | None
    """By which ASCEND_RT_VISIBLE_DEVICES names it."""
    physical_id: int | None = None
    bus_id: str | None = None
    name: str | None = None

    @property
    def place(self) -> str:
        """What to call it in a sentence, as in `NPU 0 chip 0`."""
        return f"NPU {self.npu_id}" + ("" if self.chip_id is None else f" chip {self.chip_id}")


class DeviceRecord(Record):
    """What kind of device the run used, and which dies: those that it had taken for itself."""

    kind: Literal["emulated", "hardware"]
    dies: tuple[DieRecord, ...]
    visible_devices: str | None
    """ASCEND_RT_VISIBLE_DEVICES of its stages; null where none of them needed a die."""
    before: tuple[DieState, ...] | None = None
    """Every die that npu-smi showed in the stage health; None where it was not asked."""
    after: tuple[DieState, ...] | None = None
    """The same in the stage health-after."""


class ModelRecord(Record):
    """The model of `--model`: where it was, and which one it is."""

    path: str
    architectures: tuple[str, ...]
    model_type: str
    files: dict[str, FileRecord]
    """Weights, configuration, tokenizer: every file that counts, by name."""


class PipelineRecord(Record):
    """Which pipeline file was run."""

    name: Name
    sha256: Sha256


class ShardRecord(Record):
    """Which part of a divided run this is."""

    index: int = Field(ge=1)
    """Counted from 1."""
    count: int = Field(ge=1)

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.index > self.count:
            raise ValueError(f"there is no shard {self.index} of {self.count}")
        return self

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class ProjectRecord(Record):
    """npu-assay itself."""

    version: str
    python: str
    commit: str | None
    """None outside a git checkout."""
    dirty: bool | None


class HostRecord(Record):
    """The machine, without its name or addresses."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")] | None = None
    """Tells hosts apart and names none: see evidence/machine_id.py. None where the host has no machine id."""
    system: str
    kernel: str
    machine: str
    cpus: int
    memory_bytes: int


class ChangedSetting(Record):
    """A setting that is not the pipeline file's."""

    default: Setting | None
    """The file's; None where it leaves the setting out."""
    used: Setting


class Manifest(Record):
    """The whole of manifest.json."""

    schema_version: Literal[1] = 1
    pipeline: PipelineRecord
    shard: ShardRecord | None = None
    """None for a run of the whole pipeline."""
    environment: EnvironmentRecord
    source: SourceRecord
    device: DeviceRecord
    model: ModelRecord | None
    """The one given with --model; None for the pipeline's own."""
    loaded: dict[str, LoadedRecord] | None = None
    """Component -> what was imported, by environment.json; None where that does not say so."""
    changed_settings: dict[str, ChangedSetting] = Field(default_factory=dict)
    """`<stage>.<setting>` -> how --set departs from the pipeline; the environment's departures are its
    `deviations`.
    """
    image: ImageRecord | None = None
    """None outside of npu-assay's images."""
    project: ProjectRecord
    host: HostRecord
    started: UtcTime
    finished: UtcTime
    interrupted: bool
    stages: tuple[StageRecord, ...] = Field(min_length=1)

    @field_validator("stages")
    @classmethod
    def _each_once(cls, stages: tuple[StageRecord, ...]) -> tuple[StageRecord, ...]:
        seen: set[str] = set()
        for stage in stages:
            if stage.name in seen:
                raise ValueError(f"{stage.name} stands twice")
            seen.add(stage.name)
        return stages

    @model_validator(mode="after")
    def _times_in_order(self) -> Self:
        if self.finished < self.started:
            raise ValueError("finished is before started")
        for stage in self.stages:
            if stage.started is None:
                continue
            ended = stage.started + timedelta(seconds=stage.seconds or 0)
            if stage.started < self.started - _ROUNDING or ended > self.finished + _ROUNDING:
                raise ValueError(f"stage {stage.name} was not run between started and finished")
        return self

    @property
    def partial(self) -> bool:
        """Whether stages were left out on request, or the run was interrupted."""
        return self.interrupted or any(stage.status is StageStatus.NOT_RUN for stage in self.stages)

    def stage(self, name: str) -> StageRecord | None:
        """The record of that stage, or None."""
        return next((stage for stage in self.stages if stage.name == name), None)


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write manifest.json atomically."""
    write_atomically(path, manifest.model_dump_json(indent=2).encode() + b"\n")


def read_manifest(path: Path) -> Manifest:
    """Read manifest.json. Raises UsageError that names the first thing which is wrong in it."""
    return read_strictly(path, str(path), Manifest)
