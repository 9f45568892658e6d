"""The table of dies of `npu-smi info`.

A die has two rows, its card's and its chip's, and the table two header lines. Which columns stand in which
cell differs by chip and driver, so the header decides: any arrangement of known columns is read, an unknown
column is an error. Seen so far: 910 and 910B (HBM), A3 (two dies a card, Phy-ID, the second without power),
310P and 310B (Device, no HBM), 950 (no Chip; NPU ID and Name in cells of their own). Meaning of the columns:
npu-smi's reference for the Atlas 200I A2, 25.5.0, "npu-smi info"; 950: vllm-ascend#10463.

Two departures occur in excerpts of public reports. A table without any header line is read as the one known
layout that its rows have the shape of. Chip rows that follow one another without a rule or another card row
are the dies of one card: what the card's row measures is the card's, and stands with its first die.
"""

import re
from contextlib import suppress
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.table import Form, Header, Row, header_of
from npu_assay.device.npu_smi.values import (
    Usage,
    integer_or_none,
    natural,
    natural_or_none,
    number_or_none,
    text_or_none,
    usage_or_none,
)

_CARD_COLUMNS = {
    "NPU": Form.WORD,
    "NPU ID": Form.WORD,
    "Name": Form.TEXT,
    "Health": Form.WORD,
    "Power(W)": Form.WORD,
    "Temp(C)": Form.WORD,
    "Hugepages-Usage(page)": Form.USAGE,
}
_CHIP_COLUMNS = {
    "Chip": Form.WORD,
    "Phy-ID": Form.WORD,
    "Device": Form.WORD,
    "Bus-Id": Form.WORD,
    "AICore(%)": Form.WORD,
    "NPU Util(%)": Form.WORD,
    "Memory-Usage(MB)": Form.USAGE,
    "HBM-Usage(MB)": Form.USAGE,
}
#: What a card's row measures; the dies after its first have none of it.
_OF_THE_CARD = ("Power(W)", "Temp(C)", "Hugepages-Usage(page)")
_EXPECTED = "the header of the table of dies"
_ADDRESS = re.compile(Form.ADDRESS.value)


@dataclass(frozen=True)
class InfoDie:
    """One die. What the layout has no column for, or npu-smi did not measure, is None."""

    npu_id: int
    chip_id: int | None
    """None also where the output was cut short before it."""
    physical_id: int | None
    """The N of /dev/davinciN; A3's `Phy-ID`."""
    device: int | None
    """`Device` of the 310 family: the vendor's "chip number", not said to be logical or physical."""
    name: str | None
    """None, as the health, only where the output was cut short before it."""
    health: str | None
    bus_id: str | None
    power_w: float | None
    temperature_c: int | None
    utilisation_percent: float | None
    """Of the AI cores; 950: of the NPU."""
    memory_mib: Usage | None
    hbm_mib: Usage | None
    hugepages: Usage | None


@dataclass(frozen=True)
class Layout:
    """What the rows of a card and of a chip consist of."""

    card: Header
    chip: Header
    has_header: bool = True
    """False: no header line said so, the shape of the rows did."""


@dataclass(frozen=True)
class DieTable:
    """All dies, in order."""

    dies: tuple[InfoDie, ...]
    shared_cards: tuple[int, ...]
    """NPUs whose dies share one card row."""


def layout_of(rows: tuple[Row, ...], source: str) -> Layout:
    """The layout that the header says; without one, the shape of the first die. Raises UnknownLayoutError."""
    if len(rows) < 2:
        raise UnknownLayoutError(source, rows[0].line if rows else "end of output", _EXPECTED)
    card, chip = header_of(rows[0], _CARD_COLUMNS), header_of(rows[1], _CHIP_COLUMNS)
    if card is None:
        of_card = [shape for shape in _SHAPES if shape.card.fits(rows[0])]
        shapes = [shape for shape in of_card if shape.chip.fits(rows[1])]
        if len(shapes) == 1:
            return shapes[0]
        if of_card:
            raise UnknownLayoutError(source, rows[1].line, "as there is no header, a row of a known shape")
    if card is None or not {"Name", "Health"} <= card.columns or len({"NPU", "NPU ID"} & card.columns) != 1:
        expected = f"{_EXPECTED} (NPU, Name, Health and other known columns)"
        raise UnknownLayoutError(source, rows[0].line, expected)
    if chip is None or "Bus-Id" not in chip.columns or len(chip.cells) != len(card.cells):
        raise UnknownLayoutError(source, rows[1].line, f"{_EXPECTED} (Chip, Bus-Id and other known columns)")
    return Layout(card, chip)


def dies_of(layout: Layout, rows: tuple[Row, ...], *, cut: bool, source: str) -> DieTable:
    """Read the rows below the header; with `cut` the last one may be part of a row, or lack its chip's.

    Raises UnknownLayoutError.
    """
    reading = _Reading(layout, source)
    for at, row in enumerate(rows):
        if cut and at == len(rows) - 1 and not layout.card.is_whole(row):
            reading.add_part(row)
        else:
            reading.add(row)
    reading.end(cut=cut)
    _check_each_once(reading.dies, source)
    return DieTable(tuple(reading.dies), tuple(dict.fromkeys(reading.shared)))


class _Reading:
    """The dies so far, and the card whose row was read last."""

    def __init__(self, layout: Layout, source: str) -> None:
        self.layout = layout
        self.source = source
        self.dies: list[InfoDie] = []
        self.shared: list[int] = []
        self._card: dict[str, str] | None = None
        self._card_row: Row | None = None
        self._has_die = False

    def add(self, row: Row) -> None:
        """A row, whose card is the last one."""
        header = self._header_of(row)
        values = header.read(row, self.source)
        if header is self.layout.card:
            self._card, self._card_row, self._has_die = values, row, False
            return
        assert self._card is not None
        assert self._card_row is not None
        try:
            self._add_die(self._card, values)
        except ValueError as error:
            lines = f"{self._card_row.line} {row.line}"
            raise UnknownLayoutError(self.source, lines, f"a die's values ({error})") from error

    def add_part(self, row: Row) -> None:
        """The last row of a text that was cut short: of a die whose ids are left, what is left of it."""
        card, chip = self.layout.card.read_part(row), self.layout.chip.read_part(row)
        with suppress(ValueError):
            if self._card is None or (row.follows_rule and not self._awaits_chip):
                self.dies.append(_die(card or {}, {}))
            elif self._awaits_chip or (chip and not card):
                self._add_die(self._card, chip or {})
            elif card and not chip:
                self.dies.append(_die(card, {}))

    def end(self, *, cut: bool) -> None:
        """The last card may lack its chip's row, of which then nothing is known."""
        if not self._awaits_chip:
            return
        assert self._card is not None
        assert self._card_row is not None
        line = self._card_row.line
        if not cut:
            raise UnknownLayoutError(self.source, line, "a second row for this die")
        try:
            self._add_die(self._card, {})
        except ValueError as error:
            raise UnknownLayoutError(self.source, line, f"a die's values ({error})") from error

    @property
    def _awaits_chip(self) -> bool:
        return self._card is not None and not self._has_die

    def _header_of(self, row: Row) -> Header:
        """Whether a row is a card's or a chip's."""
        if self._awaits_chip:
            return self.layout.chip
        if self._card is None or row.follows_rule or not self.layout.chip.fits(row):
            return self.layout.card
        if not self.layout.card.fits(row):
            return self.layout.chip
        if _ADDRESS.fullmatch(self.layout.card.read(row, self.source)["Health"]):
            return self.layout.chip
        raise UnknownLayoutError(self.source, row.line, "a row that can only be a card's or only a chip's")

    def _add_die(self, card: dict[str, str], chip: dict[str, str]) -> None:
        """Raises ValueError."""
        if self._has_die:
            self.shared.append(natural(card.get("NPU", card.get("NPU ID", ""))))
            card = {name: value for name, value in card.items() if name not in _OF_THE_CARD}
        self.dies.append(_die(card, chip))
        self._has_die = True


def _die(card: dict[str, str], chip: dict[str, str]) -> InfoDie:
    values = card | chip
    return InfoDie(
        npu_id=natural(card.get("NPU", card.get("NPU ID", ""))),
        chip_id=natural(chip["Chip"]) if "Chip" in chip else None,
        physical_id=natural_or_none(values.get("Phy-ID", "-")),
        device=natural_or_none(values.get("Device", "-")),
        name=_filled(card["Name"]) if "Name" in card else None,
        health=card.get("Health"),
        bus_id=text_or_none(values.get("Bus-Id", "-")),
        power_w=number_or_none(values.get("Power(W)", "-")),
        temperature_c=integer_or_none(values.get("Temp(C)", "-")),
        utilisation_percent=number_or_none(values.get("AICore(%)", values.get("NPU Util(%)", "-"))),
        memory_mib=usage_or_none(values.get("Memory-Usage(MB)", "-")),
        hbm_mib=usage_or_none(values.get("HBM-Usage(MB)", "-")),
        hugepages=usage_or_none(values.get("Hugepages-Usage(page)", "-")),
    )


def _filled(text: str) -> str:
    if not text:
        raise ValueError("no name")
    return text


def _check_each_once(dies: list[InfoDie], source: str) -> None:
    seen: set[tuple[int, int | None]] = set()
    for die in dies:
        key = die.npu_id, die.chip_id
        if key in seen:
            raise UnknownLayoutError(source, f"NPU {die.npu_id} chip {die.chip_id} twice", "each die once")
        seen.add(key)


def _shape(card: tuple[tuple[str, ...], ...], chip: tuple[tuple[str, ...], ...]) -> Layout:
    return Layout(Header(card, _BY_SHAPE), Header(chip, _BY_SHAPE), has_header=False)


#: Narrow, so that a row of another layout does not fit by chance.
_BY_SHAPE = {
    "NPU": Form.NATURAL,
    "NPU ID": Form.NATURAL,
    "Name": Form.NAME,
    "Health": Form.HEALTH,
    "Power(W)": Form.MEASURE,
    "Temp(C)": Form.MEASURE,
    "Hugepages-Usage(page)": Form.USAGE,
    "Chip": Form.NATURAL,
    "Phy-ID": Form.NATURAL,
    "Device": Form.NATURAL,
    "Bus-Id": Form.ADDRESS,
    "AICore(%)": Form.MEASURE,
    "NPU Util(%)": Form.MEASURE,
    "Memory-Usage(MB)": Form.USAGE,
    "HBM-Usage(MB)": Form.USAGE,
}
_CARD = (("NPU", "Name"), ("Health",), _OF_THE_CARD)
_MEMORY, _HBM = ("AICore(%)", "Memory-Usage(MB)"), ("AICore(%)", "Memory-Usage(MB)", "HBM-Usage(MB)")
#: No two have the same number of cells, ids and usages: 310 without and with Device, 910 and 910B, A3, 950.
_SHAPES = (
    _shape(_CARD, (("Chip",), ("Bus-Id",), _MEMORY)),
    _shape(_CARD, (("Chip", "Device"), ("Bus-Id",), _MEMORY)),
    _shape(_CARD, (("Chip",), ("Bus-Id",), _HBM)),
    _shape(_CARD, (("Chip", "Phy-ID"), ("Bus-Id",), _HBM)),
    _shape(
        (("NPU ID",), ("Name",), ("Health",), _OF_THE_CARD),
        ((), (), ("Bus-Id",), ("NPU Util(%)", "Memory-Usage(MB)", "HBM-Usage(MB)")),
    ),
)
