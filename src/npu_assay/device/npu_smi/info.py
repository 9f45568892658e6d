"""`npu-smi info`: the table of dies, and the table of processes under it.

A die has two rows, and the table two header lines. Which columns stand in which cell differs by chip and
driver, so the header decides: any arrangement of known columns is read, an unknown column is an error. Seen
so far: 910 and 910B (HBM), A3 (two dies a card, Phy-ID, the second without power), 310P and 310B (Device, no
HBM), 950 (no Chip; NPU ID and Name in cells of their own). Meaning of the columns: npu-smi's reference for
the Atlas 200I A2, 25.5.0, "npu-smi info"; 950: vllm-ascend#10463.
"""

import re
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.table import Form, Header, Row, header_of, rows_of
from npu_assay.device.npu_smi.values import (
    Usage,
    integer,
    integer_or_none,
    number_or_none,
    text_or_none,
    usage_or_none,
)

_VERSION = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")
_IDLE = re.compile(r"No running processes found in NPU (\d+)")

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
_PROCESS_COLUMNS = {
    "NPU": Form.WORD,
    "NPU ID": Form.WORD,
    "Chip": Form.WORD,
    "Process id": Form.WORD,
    "Process name": Form.TEXT,
    "Process memory(MB)": Form.WORD,
    "Process id in container": Form.WORD,
}


@dataclass(frozen=True)
class InfoDie:
    """One die. What the layout has no column for, or npu-smi did not measure, is None."""

    npu_id: int
    chip_id: int | None
    physical_id: int | None
    """The N of /dev/davinciN; A3's `Phy-ID`."""
    device: int | None
    """`Device` of the 310 family: the vendor's "chip number", not said to be logical or physical."""
    name: str
    health: str
    bus_id: str | None
    power_w: float | None
    temperature_c: int | None
    utilisation_percent: float | None
    """Of the AI cores; 950: of the NPU."""
    memory_mib: Usage | None
    hbm_mib: Usage | None
    hugepages: Usage | None


@dataclass(frozen=True)
class DeviceProcess:
    """A process that holds device memory."""

    npu_id: int
    chip_id: int | None
    pid: int
    """As the host numbers it."""
    name: str
    memory_mib: int
    container_pid: int | None = None


@dataclass(frozen=True)
class Info:
    """All of `npu-smi info`."""

    version: str | None
    """Of the driver; None when the title line was left out."""
    dies: tuple[InfoDie, ...]
    processes: tuple[DeviceProcess, ...] | None
    """None without a process table. In a container the processes of others are not listed."""
    idle_npus: tuple[int, ...] = ()
    """NPUs of which npu-smi says that nothing runs on them."""

    def processes_of(self, die: InfoDie) -> tuple[DeviceProcess, ...] | None:
        """What runs on a die; None when that is not known."""
        if self.processes is None:
            return None
        return tuple(
            process
            for process in self.processes
            if process.npu_id == die.npu_id and process.chip_id in (None, die.chip_id)
        )


def is_info(text: str) -> bool:
    """Whether this is the output of `npu-smi info`, of any chip, whole or not."""
    return any(line.lstrip()[:1] in ("|", "+") for line in text.splitlines())


def parse_info(text: str, source: str) -> Info:
    """Read `npu-smi info`. Raises UnknownLayoutError, also when there is no die or the text was cut short."""
    rows = rows_of(text, source)
    version = None
    if rows and (title := _VERSION.search(rows[0].line)):
        version = title[2]
        rows = rows[1:]
    card, chip = _headers(rows, source)
    rows = rows[2:]
    split = next((at for at, row in enumerate(rows) if _is_process_header(row)), len(rows))

    dies: list[InfoDie] = []
    for at in range(0, split, 2):
        if at + 1 == split:
            raise UnknownLayoutError(
                source, rows[at].line, "a second row for this die; the output was cut short"
            )
        dies.append(_die(card, chip, rows[at], rows[at + 1], source))
    if not dies:
        raise UnknownLayoutError(source, "end of output", "at least one die")
    _check_each_once(dies, source)
    processes, idle = _processes(rows[split:], source)
    return Info(version, tuple(dies), processes, idle)


def _headers(rows: list[Row], source: str) -> tuple[Header, Header]:
    expected = "the header of the table of dies"
    if len(rows) < 2:
        raise UnknownLayoutError(source, rows[0].line if rows else "end of output", expected)
    card, chip = header_of(rows[0], _CARD_COLUMNS), header_of(rows[1], _CHIP_COLUMNS)
    if card is None or not {"Name", "Health"} <= card.columns or len({"NPU", "NPU ID"} & card.columns) != 1:
        raise UnknownLayoutError(
            source, rows[0].line, f"{expected} (NPU, Name, Health and other known columns)"
        )
    if chip is None or "Bus-Id" not in chip.columns or len(chip.cells) != len(card.cells):
        raise UnknownLayoutError(source, rows[1].line, f"{expected} (Chip, Bus-Id and other known columns)")
    return card, chip


def _die(card_header: Header, chip_header: Header, card_row: Row, chip_row: Row, source: str) -> InfoDie:
    card, chip = card_header.read(card_row, source), chip_header.read(chip_row, source)
    values = card | chip
    try:
        return InfoDie(
            npu_id=integer(card.get("NPU", card.get("NPU ID", ""))),
            chip_id=integer(chip["Chip"]) if "Chip" in chip else None,
            physical_id=integer_or_none(values.get("Phy-ID", "-")),
            device=integer_or_none(values.get("Device", "-")),
            name=_filled(card["Name"]),
            health=card["Health"],
            bus_id=text_or_none(chip["Bus-Id"]),
            power_w=number_or_none(values.get("Power(W)", "-")),
            temperature_c=integer_or_none(values.get("Temp(C)", "-")),
            utilisation_percent=number_or_none(values.get("AICore(%)", values.get("NPU Util(%)", "-"))),
            memory_mib=usage_or_none(values.get("Memory-Usage(MB)", "-")),
            hbm_mib=usage_or_none(values.get("HBM-Usage(MB)", "-")),
            hugepages=usage_or_none(values.get("Hugepages-Usage(page)", "-")),
        )
    except ValueError as error:
        raise UnknownLayoutError(
            source, f"{card_row.line} {chip_row.line}", f"a die's values ({error})"
        ) from error


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


def _is_process_header(row: Row) -> bool:
    header = header_of(row, _PROCESS_COLUMNS)
    return header is not None and {"Process id", "Process name", "Process memory(MB)"} <= header.columns


def _processes(rows: list[Row], source: str) -> tuple[tuple[DeviceProcess, ...] | None, tuple[int, ...]]:
    """The process table, its header first. A row of it looks like a row of the table of dies."""
    if not rows:
        return None, ()
    header = header_of(rows[0], _PROCESS_COLUMNS)
    if header is None or len({"NPU", "NPU ID"} & header.columns) != 1:
        raise UnknownLayoutError(source, rows[0].line, "the header of the process table")
    processes: list[DeviceProcess] = []
    idle: list[int] = []
    for row in rows[1:]:
        if nothing := _IDLE.fullmatch(" ".join(row.line.strip().strip("|").split())):
            idle.append(int(nothing[1][:18]))
        else:
            processes.append(_process(header, row, source))
    if not processes and not idle:
        raise UnknownLayoutError(source, rows[0].line, "processes, or a word that there are none")
    busy_and_idle = {process.npu_id for process in processes} & set(idle)
    if busy_and_idle:
        raise UnknownLayoutError(
            source, f"NPU {min(busy_and_idle)} with processes and without", "one or the other"
        )
    return tuple(processes), tuple(idle)


def _process(header: Header, row: Row, source: str) -> DeviceProcess:
    values = header.read(row, source)
    try:
        return DeviceProcess(
            npu_id=integer(values.get("NPU", values.get("NPU ID", ""))),
            chip_id=integer(values["Chip"]) if "Chip" in values else None,
            pid=integer(values["Process id"]),
            name=values["Process name"],
            memory_mib=integer(values["Process memory(MB)"]),
            container_pid=integer_or_none(values.get("Process id in container", "-")),
        )
    except ValueError as error:
        raise UnknownLayoutError(source, row.line, f"a row of the process table ({error})") from error
