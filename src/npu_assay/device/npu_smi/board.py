"""`npu-smi info -t board`: product, serial number, driver and firmware; of an NPU (`-i`) or a chip (`-c`)."""

from dataclasses import dataclass
from itertools import pairwise

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import CHIP_COUNT, CHIP_ID, NPU_ID, Block, lines_of, values_of
from npu_assay.device.npu_smi.values import natural

_CONTROLLER = "mcu"


@dataclass(frozen=True)
class Board:
    """One board or chip. What a layout leaves out, or writes NA for, is None."""

    npu_id: int | None
    chip_id: int | None
    chip_type: str | None
    """Ascend or mcu; only of a chip."""
    chip_name: str | None
    npu_name: str | None
    """What tells the chips of an A3 or 950 apart, such as 9392 of Ascend910; no A2 or 310P has it."""
    product_name: str | None
    serial_number: str | None
    board_id: str | None
    driver_version: str | None
    """`Software Version`."""
    firmware_version: str | None
    compatibility: str | None
    """Whether driver and firmware go together; 950 only."""
    bus_id: str | None
    chip_count: int | None
    faulty_chip_count: int | None

    @property
    def is_controller(self) -> bool:
        return self.chip_type is not None and self.chip_type.lower() == _CONTROLLER


@dataclass(frozen=True)
class Boards:
    """`npu-smi info -t board`; without `-i` of every NPU."""

    boards: tuple[Board, ...]


def parse_boards(text: str, source: str) -> Boards:
    """Read `npu-smi info -t board`. Raises UnknownLayoutError."""
    lines = lines_of(text, source)
    starts = [at for at, line in enumerate(lines) if line.key == NPU_ID]
    if starts and starts[0] != 0:
        raise UnknownLayoutError(source, lines[0].key, f"{NPU_ID} first")
    bounds = [*(starts or [0]), len(lines)]
    parts = (lines[start:end] for start, end in pairwise(bounds))
    return Boards(tuple(_board(Block(None, None, values_of(part, source), source)) for part in parts))


def _board(block: Block) -> Board:
    if not block.values.keys() & {"Board ID", "Firmware Version", "Software Version"}:
        raise UnknownLayoutError(block.source, ", ".join(block.values) or "nothing", "the keys of a board")
    return Board(
        npu_id=block.find(NPU_ID, natural),
        chip_id=block.find(CHIP_ID, natural),
        chip_type=block.text("Chip Type"),
        chip_name=block.text("Chip Name"),
        npu_name=block.text("NPU Name"),
        product_name=block.text("Product Name"),
        serial_number=block.text("Serial Number"),
        board_id=block.text("Board ID"),
        driver_version=block.text("Software Version"),
        firmware_version=block.text("Firmware Version"),
        compatibility=block.text("Compatibility"),
        bus_id=block.text("PCIe Bus Info"),
        chip_count=block.find(CHIP_COUNT, natural),
        faulty_chip_count=block.find("Faulty Chip Count", natural),
    )
