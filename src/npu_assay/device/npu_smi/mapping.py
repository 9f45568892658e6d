"""`npu-smi info -m`: which chip of which NPU has which logic id.

Known layout: `NPU ID, Chip ID, Chip Logic ID, Chip Name`, with or without `Chip Phy-ID`; columns are apart
by tabs or two spaces and more. Rows of the board's controller ("Mcu") are no chips and are dropped.
"""

import re
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError

_NEEDED = ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
_OPTIONAL = ("Chip Phy-ID",)
_UNUSABLE = -1


@dataclass(frozen=True)
class MappedChip:
    """One chip."""

    npu_id: int
    """-1: the driver sees the chip but can't use it."""
    chip_id: int
    logic_id: int
    physical_id: int | None
    """None in layouts without it."""
    name: str

    @property
    def usable(self) -> bool:
        return self.npu_id != _UNUSABLE


@dataclass(frozen=True)
class ChipMapping:
    """All chips of `npu-smi info -m`."""

    chips: tuple[MappedChip, ...]


def is_mapping(text: str) -> bool:
    """Whether this is the output of `npu-smi info -m`, of any chip."""
    return text.lstrip().startswith("NPU ID") and "Chip Name" in text.lstrip().partition("\n")[0]


def parse_mapping(text: str, source: str) -> ChipMapping:
    """Read `npu-smi info -m`. Raises UnknownLayoutError, also when there is no chip at all."""
    lines = [line for line in text.splitlines() if line.strip()]
    header = _columns(lines[0]) if lines else []
    if {*_NEEDED} - {*header} or {*header} - {*_NEEDED, *_OPTIONAL}:
        raise UnknownLayoutError(
            source, lines[0] if lines else "nothing", f"the columns {', '.join(_NEEDED)}"
        )
    chips = []
    for line in lines[1:]:
        values = _columns(line)
        if len(values) != len(header):
            raise UnknownLayoutError(source, line, f"{len(header)} columns")
        row = dict(zip(header, values, strict=True))
        if row["Chip Name"].lower() == "mcu":
            continue
        try:
            physical = row.get("Chip Phy-ID")
            chips.append(
                MappedChip(
                    npu_id=int(row["NPU ID"]),
                    chip_id=int(row["Chip ID"]),
                    logic_id=int(row["Chip Logic ID"]),
                    physical_id=None if physical is None else int(physical),
                    name=row["Chip Name"],
                )
            )
        except ValueError as error:
            raise UnknownLayoutError(source, line, "numbers for the ids") from error
    if not chips:
        raise UnknownLayoutError(source, "end of output", "at least one chip")
    return ChipMapping(tuple(chips))


def _columns(line: str) -> list[str]:
    return re.split(r"\t+\s*|\s{2,}", line.strip())
