"""The table of processes of `npu-smi info`, below that of the dies.

It names every NPU: with a row a process, or with the word that nothing runs on it (outputs of 910B3 and A3 in
public issues). An NPU that it does not name is one of which it says nothing.
"""

import re
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.table import Form, Header, Row, header_of
from npu_assay.device.npu_smi.values import natural, natural_or_none

_IDLE = re.compile(r"No running processes found in NPU (\d+)")
_COLUMNS = {
    "NPU": Form.WORD,
    "NPU ID": Form.WORD,
    "Chip": Form.WORD,
    "Process id": Form.WORD,
    "Process name": Form.TEXT,
    "Process memory(MB)": Form.WORD,
    "Process id in container": Form.WORD,
}


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
class ProcessTable:
    """Processes, and NPUs of which npu-smi says that nothing runs on them."""

    processes: tuple[DeviceProcess, ...]
    idle_npus: tuple[int, ...]


def is_process_header(row: Row) -> bool:
    header = header_of(row, _COLUMNS)
    return header is not None and {"Process id", "Process name", "Process memory(MB)"} <= header.columns


def is_part_of_process_header(row: Row) -> bool:
    """Whether the last row of a text that was cut short is what is left of one."""
    header = header_of(row, _COLUMNS)
    return header is not None and "Process id" in header.columns and not is_process_header(row)


def processes_of(rows: tuple[Row, ...], *, cut: bool, source: str) -> ProcessTable:
    """Read the rows, the header's first; a row of it looks like a row of the table of dies.

    With `cut` the last one may be part of a row, and is left out. Raises UnknownLayoutError.
    """
    header = header_of(rows[0], _COLUMNS)
    if header is None or len({"NPU", "NPU ID"} & header.columns) != 1:
        raise UnknownLayoutError(source, rows[0].line, "the header of the process table")
    processes: list[DeviceProcess] = []
    idle: list[int] = []
    for at, row in enumerate(rows[1:], 1):
        if row.rest is None and (nothing := _IDLE.fullmatch(" ".join(row.line.strip().strip("|").split()))):
            idle.append(int(nothing[1][:18]))
        elif not (cut and at == len(rows) - 1 and not header.is_whole(row)):
            processes.append(_process(header, row, source))
    busy_and_idle = {process.npu_id for process in processes} & set(idle)
    if busy_and_idle:
        raise UnknownLayoutError(
            source, f"NPU {min(busy_and_idle)} with processes and without", "one or the other"
        )
    return ProcessTable(tuple(processes), tuple(idle))


def _process(header: Header, row: Row, source: str) -> DeviceProcess:
    values = header.read(row, source)
    try:
        return DeviceProcess(
            npu_id=natural(values.get("NPU", values.get("NPU ID", ""))),
            chip_id=natural(values["Chip"]) if "Chip" in values else None,
            pid=natural(values["Process id"]),
            name=values["Process name"],
            memory_mib=natural(values["Process memory(MB)"]),
            container_pid=natural_or_none(values.get("Process id in container", "-")),
        )
    except ValueError as error:
        raise UnknownLayoutError(source, row.line, f"a row of the process table ({error})") from error
