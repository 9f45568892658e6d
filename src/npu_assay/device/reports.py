"""What `npu-assay device --json` prints. Its schemas are published in src/npu_assay/schemas by ci/schemas."""

from typing import Literal

from pydantic import Field

from npu_assay.device.device_map import DeviceMap, MappedDie
from npu_assay.device.die import Die, Strict
from npu_assay.device.host import Host
from npu_assay.device.nodes import DeviceNodes


class DeviceList(Strict):
    """`npu-assay device list --json`"""

    schema_version: Literal[1] = 1
    npu_smi_version: str | None
    devices: tuple[Die, ...]
    problems: tuple[str, ...] = Field(
        description="contradictions between npu-smi's outputs, and outputs that were cut short"
    )
    notes: tuple[str, ...]

    @classmethod
    def of(cls, host: Host) -> "DeviceList":
        return cls(
            npu_smi_version=host.npu_smi_version,
            devices=host.dies,
            problems=host.problems,
            notes=host.notes,
        )


class DeviceHealth(DeviceList):
    """`npu-assay device health --json`, and devices.json in an archive"""

    problems: tuple[str, ...] = Field(description="everything that is wrong")
    judged: tuple[str, ...] = Field(description="the dies whose health counts, such as `NPU 0 chip 0`")
    override: str | None = Field(description="NPU_INDEX and NPU_CHIP_INDEX as they were set")
    skipped: bool = Field(description="SKIP_NPU_HEALTH_CHECK=1: health was neither asked for nor judged")
    healthy: bool


class Nodes(Strict):
    """The device nodes of the host or container that npu-assay runs in."""

    folder: str
    dies: tuple[int, ...] = Field(description="the N of every davinciN")
    managers: tuple[str, ...]
    closed: tuple[str, ...] = Field(description="there, but not open to this user")

    @classmethod
    def of(cls, nodes: DeviceNodes) -> "Nodes":
        return cls(folder=str(nodes.folder), dies=nodes.dies, managers=nodes.managers, closed=nodes.closed)


class DeviceMapReport(Strict):
    """`npu-assay device map --json`"""

    schema_version: Literal[1] = 1
    npu_smi_version: str | None
    devices: tuple[MappedDie, ...]
    nodes: Nodes | None = Field(description="null for stored output and emulated devices")
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, host: Host, device_map: DeviceMap) -> "DeviceMapReport":
        return cls(
            npu_smi_version=host.npu_smi_version,
            devices=device_map.dies,
            nodes=None if device_map.nodes is None else Nodes.of(device_map.nodes),
            problems=device_map.problems,
            notes=host.notes,
        )
