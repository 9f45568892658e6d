"""`npu-smi info -m`: which chip of which NPU has which logical and physical id.

Columns are apart by tabs or spaces, the 950's by single ones; the header says which there are. Rows of the
board's controller ("Mcu") carry `-` for the ids that it does not have. NPU ID -1: the NPU can't be used and
its row is not valid (npu-smi's reference for the Atlas 200I A2, "npu-smi info -m"). The 950 has `Slot ID` and
no `Chip Logic ID` (vllm-ascend#10463).
"""

import re
from collections import Counter
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.values import NOT_MEASURED, integer

_COLUMNS = ("NPU ID", "Slot ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name")
_COLUMN = re.compile("|".join(sorted(_COLUMNS, key=len, reverse=True)) + r"|\S+")
_UNUSABLE = -1


@dataclass(frozen=True)
class MappedChip:
    """One chip. An id that the layout has no column for is None."""

    npu_id: int
    """-1: the driver sees the chip but can't use it."""
    chip_id: int
    logical_id: int | None
    physical_id: int | None
    slot_id: int | None
    name: str

    @property
    def usable(self) -> bool:
        return self.npu_id != _UNUSABLE


@dataclass(frozen=True)
class Controller:
    """A board's management controller, which has a place among the chips but computes nothing."""

    npu_id: int
    chip_id: int


@dataclass(frozen=True)
class ChipMapping:
    """All chips of `npu-smi info -m`."""

    chips: tuple[MappedChip, ...]
    controllers: tuple[Controller, ...] = ()


def is_mapping(text: str) -> bool:
    """Whether this is the output of `npu-smi info -m`, of any chip."""
    first = text.lstrip().partition("\n")[0]
    return first.startswith("NPU ID") and ":" not in first


def parse_mapping(text: str, source: str) -> ChipMapping:
    """Read `npu-smi info -m`. Raises UnknownLayoutError, also when there is no chip at all."""
    lines = [line for line in text.splitlines() if line.strip()]
    header = _header(lines[0] if lines else "nothing", source)
    chips: list[MappedChip] = []
    controllers: list[Controller] = []
    for line in lines[1:]:
        row = _row(header, line, source)
        try:
            if row["Chip Name"].lower() == "mcu":
                controllers.append(_controller(row))
            else:
                chips.append(_chip(row))
        except ValueError as error:
            raise UnknownLayoutError(source, line, f"numbers for the ids ({error})") from error
    if not chips:
        raise UnknownLayoutError(source, "end of output", "at least one chip")
    _check_each_once(chips, controllers, source)
    return ChipMapping(tuple(chips), tuple(controllers))


def _header(line: str, source: str) -> tuple[str, ...]:
    header = tuple(_COLUMN.findall(" ".join(line.split())))
    known = set(header) <= set(_COLUMNS) and len(set(header)) == len(header)
    if not known or not {"NPU ID", "Chip ID"} <= set(header) or header[-1] != "Chip Name":
        raise UnknownLayoutError(source, line, "NPU ID, Chip ID, other known ids and, last, Chip Name")
    return header


def _row(header: tuple[str, ...], line: str, source: str) -> dict[str, str]:
    """By column; the name, which stands last, may hold spaces."""
    values = line.split(maxsplit=len(header) - 1)
    if len(values) != len(header):
        raise UnknownLayoutError(source, line, f"{len(header)} columns")
    return dict(zip(header, [*values[:-1], " ".join(values[-1].split())], strict=True))


def _controller(row: dict[str, str]) -> Controller:
    for column in ("Chip Logic ID", "Chip Phy-ID"):
        if row.get(column, "-") not in NOT_MEASURED:
            raise ValueError(f"{row[column]!r} for a controller's {column}")
    return Controller(integer(row["NPU ID"]), integer(row["Chip ID"]))


def _chip(row: dict[str, str]) -> MappedChip:
    def optional(column: str) -> int | None:
        return integer(row[column]) if column in row else None

    return MappedChip(
        npu_id=integer(row["NPU ID"]),
        chip_id=integer(row["Chip ID"]),
        logical_id=optional("Chip Logic ID"),
        physical_id=optional("Chip Phy-ID"),
        slot_id=optional("Slot ID"),
        name=row["Chip Name"],
    )


def _check_each_once(chips: list[MappedChip], controllers: list[Controller], source: str) -> None:
    usable = [chip for chip in chips if chip.usable]
    places = Counter((chip.npu_id, chip.chip_id) for chip in usable)
    places.update((controller.npu_id, controller.chip_id) for controller in controllers)
    logical = Counter(chip.logical_id for chip in usable if chip.logical_id is not None)
    physical = Counter(chip.physical_id for chip in usable if chip.physical_id is not None)
    for what, ids in (("NPU ID and Chip ID", places), ("Chip Logic ID", logical), ("Chip Phy-ID", physical)):
        for one, times in ids.items():
            if times > 1:
                raise UnknownLayoutError(source, f"{what} {one} {times} times", "each chip once")
