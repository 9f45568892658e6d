"""`npu-smi info`: the table of cards, and the table of processes under it.

Known layouts: 910B (one die a card, HBM). Cards of other chips have other columns: later work adds them to
`LAYOUTS`.
"""

import re
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError

_USAGE_OR_WORD = re.compile(r"\d+\s*/\s*\d+|\S+")
_VERSION = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")
_NOTHING_RUNS = "No running processes found"

Header = tuple[tuple[str, ...], ...]
"""The column names in each cell of a header line."""


@dataclass(frozen=True)
class Layout:
    """The two header lines of a card table; a card has one row for each."""

    name: str
    card: Header
    chip: Header


LAYOUTS = (
    Layout(
        "910B",
        card=(("NPU", "Name"), ("Health",), ("Power(W)", "Temp(C)", "Hugepages-Usage(page)")),
        chip=(("Chip",), ("Bus-Id",), ("AICore(%)", "Memory-Usage(MB)", "HBM-Usage(MB)")),
    ),
)
_PROCESSES: Header = (("NPU", "Chip"), ("Process", "id"), ("Process", "name"), ("Process", "memory(MB)"))


@dataclass(frozen=True)
class Usage:
    """How much of something is used, in its column's unit."""

    used: int
    total: int


@dataclass(frozen=True)
class Card:
    """One die of a card as `npu-smi info` shows it."""

    npu_id: int
    chip_id: int
    name: str
    health: str
    bus_id: str
    power_w: float | None
    """None where it is not measured."""
    temperature_c: int | None
    hbm_mib: Usage
    """npu-smi writes MB and means MiB: a 64 GiB card shows 65536."""


@dataclass(frozen=True)
class DeviceProcess:
    """A process that holds device memory."""

    npu_id: int
    chip_id: int
    pid: int
    name: str
    memory_mib: int


@dataclass(frozen=True)
class Info:
    """All of `npu-smi info`."""

    version: str
    layout: str
    cards: tuple[Card, ...]
    processes: tuple[DeviceProcess, ...]


def is_info(text: str) -> bool:
    """Whether this is the output of `npu-smi info`, of any chip."""
    return bool(_VERSION.search(text)) or "Bus-Id" in text


def parse_info(text: str, source: str) -> Info:
    """Read `npu-smi info`. Raises UnknownLayoutError, also when there is no card at all."""
    lines = iter(line for line in text.splitlines() if line.strip() and not set(line.strip()) <= set("+-="))
    title = next(lines, "")
    version = _VERSION.search(title)
    if version is None:
        raise UnknownLayoutError(source, title, "the line with npu-smi's version")
    layout = _layout_of(next(lines, ""), next(lines, ""), source)

    cards: list[Card] = []
    for line in lines:
        if _header_of(line) == _PROCESSES:
            break
        if _NOTHING_RUNS in line:
            continue
        cards.append(_card(layout, line, next(lines, "end of output"), source))
    if not cards:
        raise UnknownLayoutError(source, "end of output", "at least one card")
    processes = tuple(_process(line, source) for line in lines if _NOTHING_RUNS not in line)
    return Info(version[2], layout.name, tuple(cards), processes)


def _layout_of(card_header: str, chip_header: str, source: str) -> Layout:
    found = _header_of(card_header), _header_of(chip_header)
    for layout in LAYOUTS:
        if found == (layout.card, layout.chip):
            return layout
    known_cards = {layout.card for layout in LAYOUTS}
    line = chip_header if found[0] in known_cards else card_header
    raise UnknownLayoutError(source, line, f"the header of {' or '.join(layout.name for layout in LAYOUTS)}")


def _header_of(line: str) -> Header:
    return tuple(tuple(cell.split()) for cell in _cells(line))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _values(header: Header, line: str, source: str) -> dict[str, str]:
    """A row's values by column name. A name may hold spaces, as the last value of its cell."""
    cells = _cells(line)
    if len(cells) != len(header):
        raise UnknownLayoutError(source, line, f"{len(header)} cells")
    values: dict[str, str] = {}
    for names, cell in zip(header, cells, strict=True):
        found = _USAGE_OR_WORD.findall(cell)
        if names[-1] == "Name" and len(found) > len(names):
            found = [*found[: len(names) - 1], " ".join(found[len(names) - 1 :])]
        if len(found) != len(names):
            raise UnknownLayoutError(source, line, f"values for {', '.join(names)}")
        values.update(zip(names, found, strict=True))
    return values


def _card(layout: Layout, card_line: str, chip_line: str, source: str) -> Card:
    card = _values(layout.card, card_line, source)
    chip = _values(layout.chip, chip_line, source)
    try:
        return Card(
            npu_id=int(card["NPU"]),
            chip_id=int(chip["Chip"]),
            name=card["Name"],
            health=card["Health"],
            bus_id=chip["Bus-Id"],
            power_w=_number(card["Power(W)"]),
            temperature_c=None if (degrees := _number(card["Temp(C)"])) is None else int(degrees),
            hbm_mib=_usage(chip["HBM-Usage(MB)"]),
        )
    except ValueError as error:
        raise UnknownLayoutError(source, f"{card_line} {chip_line}", f"a card's numbers ({error})") from error


def _number(text: str) -> float | None:
    return None if text in ("-", "NA") else float(text)


def _usage(text: str) -> Usage:
    used, _, total = text.partition("/")
    return Usage(int(used), int(total))


def _process(line: str, source: str) -> DeviceProcess:
    cells = _cells(line)
    try:
        (npu, chip), pid, name, memory = cells[0].split(), *cells[1:]
        return DeviceProcess(int(npu), int(chip), int(pid), name, int(memory))
    except ValueError as error:
        raise UnknownLayoutError(source, line, "a row of the process table") from error
