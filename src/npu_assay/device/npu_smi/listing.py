"""`npu-smi info -l`: the NPUs, that is cards; a card may hold several chips.

Product name, serial number and chip count are left out by some drivers (awesome-ascend-skills#78).
"""

from dataclasses import dataclass
from itertools import pairwise

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import CHIP_COUNT, NPU_ID, Block, lines_of, values_of
from npu_assay.device.npu_smi.values import integer

_TOTAL = "Total Count"


@dataclass(frozen=True)
class ListedNpu:
    """One NPU."""

    npu_id: int
    chip_count: int | None
    product_name: str | None
    serial_number: str | None


@dataclass(frozen=True)
class Listing:
    """All NPUs of `npu-smi info -l`."""

    npus: tuple[ListedNpu, ...]


def parse_listing(text: str, source: str) -> Listing:
    """Read `npu-smi info -l`. Raises UnknownLayoutError, also when fewer NPUs follow than it announces."""
    lines = lines_of(text, source)
    starts = [at for at, line in enumerate(lines) if line.key == NPU_ID]
    bounds = [*starts, len(lines)]
    head = Block(None, None, values_of(lines[: bounds[0]], source), source)
    announced = head.get(_TOTAL, integer)
    npus = tuple(
        _npu(Block(None, None, values_of(lines[start:end], source), source))
        for start, end in pairwise(bounds)
    )
    if len(npus) != announced or not npus:
        raise UnknownLayoutError(
            source, f"{len(npus)} NPUs", f"{announced} as Total Count says, and at least one"
        )
    if len({npu.npu_id for npu in npus}) != len(npus):
        raise UnknownLayoutError(source, "an NPU ID twice", "each NPU once")
    return Listing(npus)


def _npu(block: Block) -> ListedNpu:
    return ListedNpu(
        npu_id=block.get(NPU_ID, integer),
        chip_count=block.find(CHIP_COUNT, integer),
        product_name=block.text("Product Name"),
        serial_number=block.text("Serial Number"),
    )
