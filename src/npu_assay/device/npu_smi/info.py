"""`npu-smi info`: the table of dies, and the table of processes under it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.device.npu_smi.cut import CutShort
from npu_assay.device.npu_smi.die_table import InfoDie, dies_of, layout_of
from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.process_table import (
    DeviceProcess,
    is_part_of_process_header,
    is_process_header,
    processes_of,
)
from npu_assay.device.npu_smi.table import boxes_of

_VERSION = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")


@dataclass(frozen=True)
class Info:
    """All of `npu-smi info`, or what is left of it."""

    version: str | None
    """Of the driver; None when the title line was left out."""
    dies: tuple[InfoDie, ...]
    processes: tuple[DeviceProcess, ...] | None
    """None without a process table. In a container the processes of others are not listed."""
    idle_npus: tuple[int, ...] = ()
    """NPUs of which npu-smi says that nothing runs on them."""
    has_header: bool = True
    shared_cards: tuple[int, ...] = ()
    """NPUs whose dies share one card row."""
    cut: CutShort | None = None
    """Where the output ends, if it does so before its end."""

    def processes_of(self, die: InfoDie) -> tuple[DeviceProcess, ...] | None:
        """What runs on a die; None when that is not known."""
        of_npu = [process for process in self.processes or () if process.npu_id == die.npu_id]
        found = tuple(process for process in of_npu if process.chip_id in (None, die.chip_id))
        if found or die.npu_id in self.idle_npus:
            return found
        return () if of_npu and self.cut is None else None

    @property
    def notes(self) -> Iterator[str]:
        """What whoever reads the values has to know of them."""
        if not self.has_header:
            yield "no header: read by the shape of its rows"
        for npu_id in self.shared_cards:
            yield (
                f"NPU {npu_id}: one row for a card of several dies; its health is taken for each die's, its "
                f"power and temperature stand with the first"
            )
        if self.cut is None and self.processes is None:
            yield "no table of processes, so nothing says what runs on its dies"
        elif self.cut is None:
            unsaid = dict.fromkeys(die.npu_id for die in self.dies if self.processes_of(die) is None)
            for npu_id in unsaid:
                yield f"NPU {npu_id}: its table of processes does not name this NPU"


def is_info(text: str) -> bool:
    """Whether this is the output of `npu-smi info`, of any chip, whole or not."""
    return any(line.lstrip()[:1] in ("|", "+") for line in text.splitlines())


def parse_info(text: str, source: str) -> Info:
    """Read `npu-smi info`; of one that was cut short, what is left.

    Raises UnknownLayoutError, also when there is no die. An output that ends at the rule below a die or below
    an NPU's processes looks whole: only that its table of processes, or an NPU in it, is not there shows that
    there may have been more, which `notes` says.
    """
    boxes = boxes_of(text, source)
    rows = boxes.rows
    version = None
    if rows and (title := _VERSION.search(rows[0].line)):
        version = title[2]
        rows = rows[1:]
    layout = layout_of(rows, source)
    rows = rows[2:] if layout.has_header else rows
    split = next((at for at, row in enumerate(rows) if is_process_header(row)), len(rows))
    dies, processes = rows[:split], rows[split:]
    cut = not boxes.closed or len(processes) == 1 or (boxes.closed_lightly and not processes)
    if cut and dies and not processes and is_part_of_process_header(dies[-1]):
        dies = dies[:-1]
    table = dies_of(layout, dies, cut=cut and not processes, source=source)
    if not table.dies:
        raise UnknownLayoutError(source, "end of output", "at least one die")
    running = processes_of(processes, cut=cut, source=source) if processes else None
    return Info(
        version,
        table.dies,
        running.processes if running else None,
        running.idle_npus if running else (),
        layout.has_header,
        table.shared_cards,
        boxes.end if cut else None,
    )
