"""The state of a host's dies, as npu-smi's output in the archive shows it, for the manifest.

`verify` judges that output itself; these are its figures in a form that can be read and compared.
"""

from pathlib import Path

from npu_assay.device.die import Die
from npu_assay.device.host import join
from npu_assay.device.stored import read_answers
from npu_assay.errors import AssayError
from npu_assay.evidence.record import Record


class ProcessState(Record):
    """A process that held memory of a die."""

    pid: int
    name: str
    memory_mib: int


class DieState(Record):
    """A die at one time; null for what npu-smi did not show."""

    npu_id: int | None
    chip_id: int | None
    health: str | None
    temperature: float | None
    """In degrees Celsius."""
    power_w: float | None
    hbm_used_mib: int | None
    hbm_total_mib: int | None
    processes: tuple[ProcessState, ...] | None


def read_device_state(folder: Path) -> tuple[DieState, ...] | None:
    """Of every die that npu-smi showed; None where there is no output, or one that can't be read."""
    try:
        host = join(read_answers([folder]))
    except AssayError:
        return None
    return tuple(map(_state, host.dies))


def _state(die: Die) -> DieState:
    return DieState(
        npu_id=die.npu_id,
        chip_id=die.chip_id,
        health=die.health,
        temperature=die.temperature,
        power_w=die.power_w,
        hbm_used_mib=die.hbm.used_mib if die.hbm else None,
        hbm_total_mib=die.hbm.total_mib if die.hbm else None,
        processes=None
        if die.processes is None
        else tuple(
            ProcessState(pid=one.pid, name=one.name, memory_mib=one.memory_mib) for one in die.processes
        ),
    )
