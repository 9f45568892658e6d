"""`npu-smi info -l`: the NPUs, that is cards; a card may hold several chips.

Product name, serial number and chip count are left out by some drivers (awesome-ascend-skills#78).
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from npu_assay.device.npu_smi.cut import CutShort
from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import CHIP_COUNT, NPU_ID, Block, lines_of, values_of
from npu_assay.device.npu_smi.values import natural

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
    """The NPUs of `npu-smi info -l`."""

    npus: tuple[ListedNpu, ...]
    cut: CutShort | None = None
    """Where it ends, if that is before the last of the NPUs that it announces."""


def parse_listing(text: str, source: str) -> Listing:
    """Read `npu-smi info -l`; of one with fewer NPUs than it announces, those that are there.

    Raises UnknownLayoutError, also when there are none or more. A last line that no line break ends may be
    cut itself: its value counts only when all NPUs stand before it.
    """
    begin = text[: text.rfind("\n") + 1] or text
    announced, npus = _read(begin, source)
    if begin != text and len(npus) == announced:
        with suppress(UnknownLayoutError):
            return Listing(_read(text, source)[1])
    elif len(npus) == announced:
        return Listing(npus)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return Listing(npus, CutShort(*lines[-1]))


def _read(text: str, source: str) -> tuple[int, tuple[ListedNpu, ...]]:
    """How many NPUs are announced, and those that there are."""
    lines = lines_of(text, source)
    starts = [at for at, line in enumerate(lines) if line.key == NPU_ID]
    bounds = [*starts, len(lines)]
    head = Block(None, None, values_of(lines[: bounds[0]], source), source)
    announced = head.get(_TOTAL, natural)
    npus = tuple(
        _npu(Block(None, None, values_of(lines[start:end], source), source))
        for start, end in pairwise(bounds)
    )
    if len(npus) > announced or not npus:
        raise UnknownLayoutError(
            source, f"{len(npus)} NPUs", f"{announced} as Total Count says, and at least one"
        )
    if len({npu.npu_id for npu in npus}) != len(npus):
        raise UnknownLayoutError(source, "an NPU ID twice", "each NPU once")
    return announced, npus


def _npu(block: Block) -> ListedNpu:
    return ListedNpu(
        npu_id=block.get(NPU_ID, natural),
        chip_count=block.find(CHIP_COUNT, natural),
        product_name=block.text("Product Name"),
        serial_number=block.text("Serial Number"),
    )
