"""Are dies fit for a run, and are they as they were after it? Judged from npu-smi's output alone."""

from collections.abc import Iterable

from npu_assay.device.die import Die
from npu_assay.device.host import Host
from npu_assay.device.idle import use_of
from npu_assay.device.npu_smi.health import HEALTHY


def faults_of(dies: Iterable[Die]) -> list[str]:
    """What is wrong with each die: its health, and no memory at all."""
    faults = []
    for die in dies:
        if die.health is None:
            faults.append(f"{die.place}: its health is not known; ask npu-smi info too")
        elif die.health != HEALTHY:
            error = f" (error code {die.error_code or 'none'}, {die.error_information or 'no information'})"
            faults.append(
                f"{die.place}: health is {die.health}, expected {HEALTHY}" + (error if die.error_code else "")
            )
        if any(memory is not None and memory.total_mib == 0 for memory in (die.hbm, die.memory)):
            faults.append(f"{die.place}: no HBM and no other memory, expected some")
    return faults


def uses_of(dies: Iterable[Die]) -> list[str]:
    """Which dies somebody uses: a run must not share one."""
    return [f"{die.place}: {use}" for die in dies if (use := use_of(die))]


def changes(before: Host, after: Host, dies: Iterable[Die]) -> list[str]:
    """What a run left: dies that are gone or new, and processes on `dies` (of after) that were not there."""
    old, new = ({(die.npu_id, die.chip_id) for die in host.dies} for host in (before, after))
    faults = [
        f"NPU {npu} chip {chip}: there before the run, gone after it"
        for npu, chip in sorted(old - new, key=str)
    ]
    faults += [f"NPU {npu} chip {chip}: not there before the run" for npu, chip in sorted(new - old, key=str)]
    were_there = {
        (die.npu_id, die.chip_id, process.pid) for die in before.dies for process in die.processes or ()
    }
    for die in dies:
        for process in die.processes or ():
            if (die.npu_id, die.chip_id, process.pid) not in were_there:
                who = f"process {process.pid} ({process.name or 'no name'}, {process.memory_mib} MiB)"
                faults.append(f"{die.place}: {who} was left on it")
    return faults
