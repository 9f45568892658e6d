"""Run one command: its bytes into a log in arrival order, and nothing of it alive afterwards."""

import io
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from npu_assay.errors import UnusableError
from npu_assay.pipeline.descendants import Descendants, adopted_descendants
from npu_assay.pipeline.folder_limit import FolderLimit

_CHUNK = 1 << 16
_POLL_SECONDS = 0.05
_DRAIN_SECONDS = 5.0
_KILL_ROUNDS = 100


@dataclass(frozen=True)
class Limits:
    """When a command is ended, in seconds and bytes."""

    seconds: float
    log_bytes: int
    grace: float = 10.0
    """Between SIGTERM and SIGKILL."""
    settle: float = 3.0
    """For processes that outlive the command by themselves, such as multiprocessing's resource tracker."""


class End(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    NOT_STARTED = "not started"
    TIMEOUT = "time limit"
    LOG_LIMIT = "log limit"
    LOG_UNWRITABLE = "log unwritable"
    WORK_LIMIT = "work limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    end: End
    exit_code: int | None
    """As subprocess has it: negative for a signal; None when it never started."""
    seconds: float
    left_behind: tuple[str, ...] = ()
    """Command lines of processes that had to be ended after the command itself had."""
    detail: str = ""
    """The system's message for NOT_STARTED and LOG_UNWRITABLE."""


class _Log:
    """The pipe's reading end, and the file its bytes go to.

    One pipe carries stdout and stderr, so that the log has them in the order in which they were written. At
    most `limit` bytes are kept; nothing is held in memory. Once `stopped_by` is set, bytes are read and
    dropped, so that a process that is being ended does not hang on a full pipe.
    """

    def __init__(self, pipe: int, file: io.FileIO, limit: int) -> None:
        self._pipe: int | None = pipe
        self._process: int | None = None
        self._file = file
        self._room = limit
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)
        self.stopped_by: End | None = None
        self.problem = ""

    def watch(self, pid: int) -> None:
        """From now on the end of this process ends a `pump`, too. Without pidfds (Linux 5.3) it does not."""
        with suppress(OSError):
            self._process = os.pidfd_open(pid)
            self._poll.register(self._process, select.POLLIN)

    def pump(self) -> None:
        """Move what arrives within a moment.

        Returns before it is over when there is something to see: the end of the pipe or of the process, a
        reason to stop. All else may wait for so long; a command that writes much waits for none of it.
        """
        until = time.monotonic() + _POLL_SECONDS
        before = self.stopped_by
        while (left := until - time.monotonic()) > 0:
            ready = [descriptor for descriptor, _ in self._poll.poll(left * 1000)]
            if self._pipe in ready:
                self._move(self._pipe)
                if self.at_end or self.stopped_by is not before:
                    return
            elif ready:
                self._close_process()
                return

    def _move(self, pipe: int) -> None:
        data = os.read(pipe, _CHUNK)
        if not data:
            self._close_pipe()
        elif self.stopped_by is None:
            self._write(data)

    def _write(self, data: bytes) -> None:
        if len(data) > self._room:
            self.stopped_by = End.LOG_LIMIT
        rest = memoryview(data)[: self._room]
        try:
            while rest:
                written = self._file.write(rest)
                rest = rest[written:]
                self._room -= written
        except OSError as error:
            self.stopped_by, self.problem = End.LOG_UNWRITABLE, error.strerror or str(error)

    @property
    def at_end(self) -> bool:
        return self._pipe is None

    def close(self) -> None:
        self._close_pipe()
        self._close_process()

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._poll.unregister(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def _close_process(self) -> None:
        if self._process is not None:
            self._poll.unregister(self._process)
            os.close(self._process)
            self._process = None


def run_to_log(
    command: Sequence[str],
    *,
    folder: Path,
    variables: Mapping[str, str],
    log: Path,
    limits: Limits,
    work: FolderLimit | None = None,
    keep_open: Sequence[int] = (),
    stop: Callable[[], bool] = lambda: False,
    tick: Callable[[float], None] = lambda seconds: None,
) -> Ended:
    """Run a command in a session of its own with stdout and stderr in `log`, until it or a limit ends it.

    `work` is the folder that the command may not fill, `keep_open` are file descriptors that it and all that
    it starts inherit. `stop` is asked and `tick` is told the seconds so far about twenty times a second.
    Whatever the end, no process that the command started is alive on return: SIGTERM, `limits.grace`,
    SIGKILL. None of them dumps its core. The clock is monotonic.
    """
    began = time.monotonic()
    with log.open("wb", buffering=0) as file:
        reading, writing = os.pipe()
        output = _Log(reading, file, limits.log_bytes)
        with closing(output), adopted_descendants() as descendants:
            try:
                with _no_core_dumps():
                    process = subprocess.Popen(
                        command,
                        cwd=folder,
                        env=dict(variables),
                        stdin=subprocess.DEVNULL,
                        stdout=writing,
                        stderr=writing,
                        start_new_session=True,
                        pass_fds=keep_open,
                    )
            except OSError as error:
                return Ended(End.NOT_STARTED, None, 0.0, detail=f"{command[0]}: {error.strerror}")
            finally:
                os.close(writing)
            output.watch(process.pid)
            try:
                end = _watch(process, output, limits.seconds, work, stop, tick)
                seconds = time.monotonic() - began
                left_behind = _end_all(process, descendants, output, limits, settle=end is End.EXITED)
            except BaseException:
                descendants.send(signal.SIGKILL)
                raise
            return Ended(output.stopped_by or end, process.wait(), seconds, left_behind, output.problem)


@contextmanager
def _no_core_dumps() -> Iterator[None]:
    """What is started in the block writes no core: one of an engine holds all its memory.

    The soft limit only, which a process without privileges can raise back to the hard one afterwards. Cores
    that the kernel pipes to a program know no limit (core(5)).
    """
    before, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (before, hard))


def _watch(
    process: subprocess.Popen[bytes],
    output: _Log,
    seconds: float,
    work: FolderLimit | None,
    stop: Callable[[], bool],
    tick: Callable[[float], None],
) -> End:
    began = time.monotonic()
    while True:
        output.pump()
        if output.stopped_by is not None:
            return output.stopped_by
        if process.poll() is not None:
            return End.EXITED
        elapsed = time.monotonic() - began
        if elapsed > seconds:
            return End.TIMEOUT
        if work is not None and work.exceeded():
            return End.WORK_LIMIT
        if stop():
            return End.INTERRUPTED
        tick(elapsed)


def _end_all(
    process: subprocess.Popen[bytes], descendants: Descendants, output: _Log, limits: Limits, *, settle: bool
) -> tuple[str, ...]:
    """End everything, gently first; returns what had outlived a command that ended by itself."""

    def wait_for_all(seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            process.poll()
            if descendants.all_ended(process.pid):
                return True
            if time.monotonic() > deadline:
                return False
            output.pump()

    left_behind: tuple[str, ...] = ()
    if not (settle and wait_for_all(limits.settle)):
        if settle:
            left_behind = tuple(straggler.command for straggler in descendants.alive())
        descendants.send(signal.SIGTERM)
        if not wait_for_all(limits.grace):
            _kill_all(descendants, wait_for_all)
    # Only a process outside the tree, handed the pipe through a socket, could still hold it open.
    deadline = time.monotonic() + _DRAIN_SECONDS
    while not output.at_end and time.monotonic() < deadline:
        output.pump()
    return left_behind


def _kill_all(descendants: Descendants, wait_for_all: Callable[[float], bool]) -> None:
    """Kill until the tree is empty: one round may lose the race against a fork."""
    for _ in range(_KILL_ROUNDS):
        descendants.send(signal.SIGKILL)
        if wait_for_all(0.2):
            return
    stuck = ", ".join(f"{process.pid} ({process.command})" for process in descendants.alive())
    raise UnusableError(f"processes that not even SIGKILL ends, probably stuck in a driver: {stuck}")
