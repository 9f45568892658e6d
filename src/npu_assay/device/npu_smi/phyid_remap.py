"""`npu-smi info -t phyid-remap -p N`: what the chip of /dev/davinciN is called elsewhere.

True on bare metal and in privileged containers only; "in other containers the result is not guaranteed to be
right" (npu-smi's reference for the Atlas 200I A2, 25.5.0).
"""

from dataclasses import dataclass
from itertools import pairwise

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import CHIP_ID, NPU_ID, Block, lines_of, values_of
from npu_assay.device.npu_smi.values import integer

PHYSICAL_ID = "Chip Physical ID"
_LOGICAL_ID = "Chip Logic ID"


@dataclass(frozen=True)
class RemappedChip:
    """One chip under all its names."""

    physical_id: int
    logical_id: int
    npu_id: int
    chip_id: int


@dataclass(frozen=True)
class PhysicalIdRemap:
    """`npu-smi info -t phyid-remap`; of several questions when their answers were put into one file."""

    chips: tuple[RemappedChip, ...]


def parse_phyid_remap(text: str, source: str) -> PhysicalIdRemap:
    """Read `npu-smi info -t phyid-remap`. Raises UnknownLayoutError."""
    lines = lines_of(text, source)
    if not lines or lines[0].key != PHYSICAL_ID:
        raise UnknownLayoutError(source, lines[0].key if lines else "nothing", PHYSICAL_ID)
    starts = [at for at, line in enumerate(lines) if line.key == PHYSICAL_ID]
    bounds = [*starts, len(lines)]
    parts = (lines[start:end] for start, end in pairwise(bounds))
    return PhysicalIdRemap(tuple(_chip(Block(None, None, values_of(part, source), source)) for part in parts))


def _chip(block: Block) -> RemappedChip:
    return RemappedChip(
        physical_id=block.get(PHYSICAL_ID, integer),
        logical_id=block.get(_LOGICAL_ID, integer),
        npu_id=block.get(NPU_ID, integer),
        chip_id=block.get(CHIP_ID, integer),
    )
