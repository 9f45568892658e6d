"""Every process that a stage started, also the ones that left its process group or session.

A process group is not enough: a stage may start daemons with setsid. While a stage runs, this process is a
"child subreaper" (prctl(2), PR_SET_CHILD_SUBREAPER): a descendant whose parent ends becomes our child
instead of init's, so the tree under us always holds everything the stage left. Unlike a marker in the
environment it can't be scrubbed. Linux only, as CANN is.
"""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from npu_assay.errors import UnusableError

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_ZOMBIE_STATES = "ZX"


@dataclass(frozen=True)
class Process:
    """A line of the process table."""

    pid: int
    parent: int
    state: str

    @property
    def command(self) -> str:
        """Its command line, shortened; empty when it is gone."""
        with suppress(OSError):
            words = Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ")
            return words.decode(errors="replace").strip()[:200]
        return ""


class Descendants:
    """The processes under this one, except those that were there before."""

    def __init__(self) -> None:
        self._others = {process.pid for process in _process_table() if process.parent == os.getpid()}

    def all_ended(self, main: int) -> bool:
        """Whether none is left; the adopted ones that have ended are collected on the way.

        The stage's own process, `main`, is left to its Popen. That none is alive does not say that all has
        ended: the table is listed before it is read, and who is read as ended may have forked in between. Who
        was collected before the table was listed can't have.
        """
        while found := self._all():
            if not any(_collected(process) for process in found if process.pid != main):
                return False
        return True

    def alive(self) -> list[Process]:
        """The living ones now."""
        return [process for process in self._all() if process.state not in _ZOMBIE_STATES]

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all of them: one that has ended may have threads that have not."""
        for process in self._all():
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def _all(self) -> list[Process]:
        """Those in the table, also the ones that have ended and were not collected."""
        children: dict[int, list[Process]] = {}
        for process in _process_table():
            children.setdefault(process.parent, []).append(process)
        found = []
        waiting = [child for child in children.get(os.getpid(), []) if child.pid not in self._others]
        while waiting:
            process = waiting.pop()
            waiting += children.get(process.pid, [])
            found.append(process)
        return found


def _collected(process: Process) -> bool:
    """Collect one of our children that has ended."""
    if process.parent != os.getpid() or process.state not in _ZOMBIE_STATES:
        return False
    with suppress(ChildProcessError):
        return os.waitpid(process.pid, os.WNOHANG)[0] != 0
    return False


@contextmanager
def adopted_descendants() -> Iterator[Descendants]:
    """Adopt what a stage leaves behind, for the time of the block."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = ctypes.c_int()
    if libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0) or libc.prctl(
        _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0
    ):
        raise UnusableError(f"stages can't be run safely here: prctl: {os.strerror(ctypes.get_errno())}")
    try:
        yield Descendants()
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def _process_table() -> Iterator[Process]:
    """All processes, from /proc/<pid>/stat (proc_pid_stat(5)): pid (name) state parent ..."""
    # Three times as fast as with Path and text; a host with many cores has thousands of kernel threads.
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb", buffering=0) as file:  # noqa: PTH123
                # The name may hold spaces and parentheses; what follows the last one can't.
                state, parent = file.read(4096).rpartition(b")")[2].split(None, 2)[:2]
                yield Process(int(name), int(parent), state.decode())
