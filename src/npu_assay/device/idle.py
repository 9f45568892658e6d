"""Is a die in use? By its processes, and by its memory.

Both, because a container shows no process of other containers and the host: npu-smi's process table is of its
own PID namespace, while HBM use is the die's.
"""

from npu_assay.device.die import Die

IDLE_MIB = 4096
"""The most that an idle die has in use. The driver itself keeps 2.8 to 3.4 GiB of a 64 GiB die (2874 to 3445
MiB in public outputs of 910B3 and A3, drivers 23.0.3 to 26.0.rc2) and 1.0 to 1.8 GiB of a 310P. 4 GiB leaves
room for other drivers, while a served model takes most of a die."""

IDLE_SHARE = 16
"""Or this part of its memory, where that is more: an idle 950 has 5.9 to 6.5 GiB of its 128 GiB in use."""


def use_of(die: Die) -> str | None:
    """How a die is in use, in words; None when nothing shows that it is."""
    if die.processes:
        who = ", ".join(f"{one.pid} ({one.name or 'no name'}, {one.memory_mib} MiB)" for one in die.processes)
        return f"used by process {who}"
    memory = die.hbm or die.memory
    if memory is None or memory.used_mib is None:
        return None
    idle = max(IDLE_MIB, memory.total_mib // IDLE_SHARE)
    if memory.used_mib <= idle:
        return None
    kind = "HBM" if die.hbm else "memory"
    used = f"{memory.used_mib} MiB of {kind} in use, an idle die has {idle} at most"
    return f"{used}; by a process that can't be seen from here"


def is_measured(die: Die) -> bool:
    """Whether a die's use is known, both its processes and its memory: without that it is not called free."""
    memory = die.hbm or die.memory
    return die.processes is not None and memory is not None and memory.used_mib is not None
