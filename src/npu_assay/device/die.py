"""The die: the unit that a process uses, that has a logical id, and that is healthy or not."""

from collections.abc import Sized

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """What is printed as JSON, with a published schema: every field is always there."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class Memory(Strict):
    """Memory of a die in MiB (npu-smi writes MB and means MiB)."""

    used_mib: int | None = Field(description="null where only the capacity is known")
    total_mib: int


class Process(Strict):
    """A process that holds memory of a die."""

    pid: int = Field(description="as the host numbers it; a container numbers it otherwise")
    name: str
    memory_mib: int
    container_pid: int | None = None


class Die(Strict):
    """One die. What no output of the host says is null; nothing has a default value."""

    npu_id: int | None = Field(default=None, description="npu-smi's -i: the card; any number, such as 32768")
    chip_id: int | None = Field(default=None, description="npu-smi's -c: the chip on its card")
    logical_id: int | None = Field(default=None, description="what ASCEND_RT_VISIBLE_DEVICES names")
    physical_id: int | None = Field(default=None, description="the N of /dev/davinciN")
    name: str | None = None
    health: str | None = Field(default=None, description="OK, Warning, Alarm, Critical or UNKNOWN")
    error_code: str | None = None
    error_information: str | None = None
    hbm: Memory | None = Field(
        default=None,
        description="null where there is none (310P, 310B); total 0 where there is no memory at all",
    )
    memory: Memory | None = Field(default=None, description="memory other than HBM; 310P and 310B have this")
    temperature: float | None = Field(default=None, description="degrees Celsius")
    power_w: float | None = None
    bus_id: str | None = None
    processes: tuple[Process, ...] | None = Field(
        default=None, description="null where npu-smi shows none and does not say that there are none"
    )
    product_name: str | None = Field(default=None, description="of the card, by -l or -t board")
    serial_number: str | None = Field(default=None, description="of the card, likewise")
    driver_version: str | None = Field(default=None, description="by -t board: Software Version")
    firmware_version: str | None = Field(default=None, description="by -t board")
    figures: dict[str, float | None] | None = Field(
        default=None, description="of -t usages and -t memory, by npu-smi's own names, units included"
    )

    @property
    def place(self) -> str:
        """What to call it in a sentence."""
        if self.npu_id is None:
            return "a die without id" if self.chip_id is None else f"chip {self.chip_id} of an NPU without id"
        return f"NPU {self.npu_id}" + ("" if self.chip_id is None else f" chip {self.chip_id}")

    @property
    def is_950(self) -> bool:
        return "950" in (self.name or "")

    @property
    def visible_id(self) -> int | None:
        """What ASCEND_RT_VISIBLE_DEVICES names: the logical id, or what stands for it where none is shown.

        npu-smi shows none on the 950, where it is the NPU id (vllm-ascend#10463).
        """
        return self.npu_id if self.logical_id is None and self.is_950 else self.logical_id

    @property
    def key(self) -> tuple[int, int]:
        """For sorting; unknown ids come first."""
        return (
            -1 if self.npu_id is None else self.npu_id,
            -1 if self.chip_id is None else self.chip_id,
        )


def counted(dies: Sized) -> str:
    """`1 die`, `2 dies`."""
    return "1 die" if len(dies) == 1 else f"{len(dies)} dies"
