"""`npu-smi info -t proc-mem`: the processes of each chip; `Chip ID` stands after them.

As in the A3's `-t usages`. A text that begins with processes, or with the word that there are none, and ends
with a `Chip ID` can't be read the other way: its first lines would be of no chip, and its last chip without
lines. One with `Chip ID` before the processes was never seen, and is refused rather than read one off.
"""

import re
from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.keys import CHIP_COUNT, CHIP_ID, NPU_ID
from npu_assay.device.npu_smi.process_table import DeviceProcess
from npu_assay.device.npu_smi.values import natural

_NOTHING = "No process in device."
_PROCESS = re.compile(r"Process id\s*:(.*?)Process name\s*:(.*?)Process memory\(MB\)\s*:(.*)")


@dataclass(frozen=True)
class ChipProcess:
    """One process; its name may be empty."""

    pid: int
    name: str
    memory_mib: int

    def on(self, npu_id: int, chip_id: int | None) -> DeviceProcess:
        """The same, as the table of `npu-smi info` has it."""
        return DeviceProcess(npu_id, chip_id, self.pid, self.name, self.memory_mib)


@dataclass(frozen=True)
class ChipProcesses:
    """What runs on one chip."""

    npu_id: int | None
    chip_id: int | None
    processes: tuple[ChipProcess, ...]


@dataclass(frozen=True)
class ProcessMemory:
    """`npu-smi info -t proc-mem`."""

    chips: tuple[ChipProcesses, ...]


def is_process_memory(text: str) -> bool:
    """Whether this is the output of `npu-smi info -t proc-mem`."""
    return _NOTHING in text or any(_PROCESS.fullmatch(line.strip()) for line in text.splitlines())


def parse_process_memory(text: str, source: str) -> ProcessMemory:
    """Read `npu-smi info -t proc-mem`.

    Raises UnknownLayoutError, also when a chip has processes and none, or when lines follow the last Chip ID.
    """
    chips: list[ChipProcesses] = []
    npu_id: int | None = None
    processes: list[ChipProcess] = []
    said_nothing = False

    def end_chip(chip_id: int | None, line: str) -> None:
        nonlocal said_nothing
        if said_nothing == bool(processes):
            raise UnknownLayoutError(source, line, "either processes of this chip or none")
        if any(chip.chip_id == chip_id for chip in chips):
            raise UnknownLayoutError(source, line, "each chip once")
        chips.append(ChipProcesses(npu_id, chip_id, tuple(processes)))
        processes.clear()
        said_nothing = False

    for line in filter(None, map(str.strip, text.splitlines())):
        key, colon, value = (part.strip() for part in line.partition(":"))
        if line == _NOTHING:
            said_nothing = True
        elif found := _PROCESS.fullmatch(line):
            processes.append(_process(found, line, source))
        elif colon and key == NPU_ID and not chips and not processes and npu_id is None:
            npu_id = _id(value, line, source)
        elif colon and key == CHIP_COUNT and not chips and not processes:
            _id(value, line, source)
        elif colon and key == CHIP_ID:
            end_chip(_id(value, line, source), line)
        else:
            raise UnknownLayoutError(source, line, "a process, Chip ID, or that there is no process")
    if processes or said_nothing:
        if chips:
            raise UnknownLayoutError(source, "end of output", "a Chip ID after the last processes")
        end_chip(None, "end of output")
    if not chips:
        raise UnknownLayoutError(source, "end of output", "processes, or that there are none")
    return ProcessMemory(tuple(chips))


def _id(value: str, line: str, source: str) -> int:
    try:
        return natural(value)
    except ValueError as error:
        raise UnknownLayoutError(source, line, f"a number ({error})") from error


def _process(found: re.Match[str], line: str, source: str) -> ChipProcess:
    pid, name, memory = (part.strip() for part in found.groups())
    try:
        return ChipProcess(natural(pid), name, natural(memory))
    except ValueError as error:
        raise UnknownLayoutError(source, line, f"a process ({error})") from error
