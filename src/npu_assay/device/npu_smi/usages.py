"""`npu-smi info -t usages` and `npu-smi info -t memory`: figures of each chip.

Which figures there are differs by chip and driver (10 on the 910B with 23.0, 25 with 25.x, 5 on the 950), so
every one is kept under its own name; all are numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import CHIP_COUNT, NPU_ID, Block, blocks_of
from npu_assay.device.npu_smi.values import number_or_none

_HEAD = (NPU_ID, CHIP_COUNT)


@dataclass(frozen=True)
class ChipFigures:
    """What one chip's lines say."""

    npu_id: int | None
    chip_id: int | None
    figures: Mapping[str, float | None]
    """By npu-smi's own name, unit included; None for NA."""

    @property
    def hbm_capacity_mib(self) -> int | None:
        """npu-smi writes MB and means MiB; None also for a chip that has no HBM but a line for it (0)."""
        return self._capacity("HBM Capacity(MB)")

    @property
    def memory_capacity_mib(self) -> int | None:
        """Memory other than HBM, likewise."""
        return self._capacity("Memory Capacity(MB)") or self._capacity("DDR Capacity(MB)")

    def _capacity(self, name: str) -> int | None:
        capacity = self.figures.get(name)
        return int(capacity) if capacity else None


@dataclass(frozen=True)
class Usages:
    """`npu-smi info -t usages`."""

    chips: tuple[ChipFigures, ...]


@dataclass(frozen=True)
class MemoryReport:
    """`npu-smi info -t memory`."""

    chips: tuple[ChipFigures, ...]


def is_usages(keys: set[str]) -> bool:
    """Whether these are the keys of `npu-smi info -t usages`."""
    return any(key.endswith(("Usage Rate(%)", "Utilization(%)")) for key in keys)


def is_memory(keys: set[str]) -> bool:
    """Whether these are the keys of `npu-smi info -t memory`."""
    return any(key.endswith("Clock Speed(MHz)") for key in keys)


def parse_usages(text: str, source: str) -> Usages:
    """Read `npu-smi info -t usages`. Raises UnknownLayoutError."""
    return Usages(tuple(_figures(block, ()) for block in blocks_of(text, source)))


def parse_memory(text: str, source: str) -> MemoryReport:
    """Read `npu-smi info -t memory`; the makers' numbers are no figures. Raises UnknownLayoutError."""
    return MemoryReport(tuple(_figures(block, ("Manufacturer ID",)) for block in blocks_of(text, source)))


def _figures(block: Block, no_figures: tuple[str, ...]) -> ChipFigures:
    names = [
        key for key in block.values if key not in _HEAD and not any(key.endswith(end) for end in no_figures)
    ]
    if not names:
        raise UnknownLayoutError(block.source, ", ".join(block.values) or "nothing", "figures of a chip")
    figures = {name: block.get(name, number_or_none) for name in names}
    return ChipFigures(block.npu_id, block.chip_id, MappingProxyType(figures))
