"""Processes that tests start: a part of a test in one of its own, and whether they still run."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def in_a_process(work: Callable[[], object]) -> int:
    """Run it in a fork of this process; returns its exit code, negative when a signal ended it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_alive(pid: int) -> bool:
    """Whether it has not ended; one that only waits for its parent has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ends(pid: int, seconds: float = 30) -> bool:
    """Whether it ends within that time: on a busy machine the kernel takes a while to act on SIGKILL."""
    deadline = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
