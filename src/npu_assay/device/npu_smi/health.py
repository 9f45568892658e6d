"""`npu-smi info -t health`.

The key is `Health` with `-i` alone and `Health Status` with `-i` and `-c`; with `-i` alone the chips follow
one another, the board's controller last, which only its chip id in `npu-smi info -m` tells from the others.
"""

from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import Block, blocks_of

HEALTHY = "OK"
HEALTH_KEYS = frozenset({"Health", "Health Status"})


@dataclass(frozen=True)
class ChipHealth:
    """The health of one chip, or of an NPU whose chips are not told apart."""

    npu_id: int | None
    chip_id: int | None
    status: str
    """OK, Warning, Alarm, Critical or UNKNOWN (npu-smi's reference, "Health")."""
    error_code: str | None
    error_information: str | None


@dataclass(frozen=True)
class HealthReport:
    """`npu-smi info -t health`, every block of it."""

    chips: tuple[ChipHealth, ...]


def parse_health(text: str, source: str) -> HealthReport:
    """Read `npu-smi info -t health`, with or without `-i N` and `-c M`. Raises UnknownLayoutError."""
    return HealthReport(tuple(_chip(block) for block in blocks_of(text, source)))


def _chip(block: Block) -> ChipHealth:
    keys = [key for key in block.values if key in HEALTH_KEYS]
    if len(keys) != 1:
        raise UnknownLayoutError(block.source, ", ".join(block.values), " or ".join(sorted(HEALTH_KEYS)))
    status = block.get(keys[0], str)
    if not status:
        raise UnknownLayoutError(block.source, "no health", "OK, Warning, Alarm, Critical or UNKNOWN")
    return ChipHealth(
        npu_id=block.npu_id,
        chip_id=block.chip_id,
        status=status,
        error_code=block.text("Error Code"),
        error_information=block.text("Error Information"),
    )
