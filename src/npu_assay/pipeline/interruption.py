"""Ctrl-C and SIGTERM ask a run to stop; it ends its stage and finishes the archive."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Whether the run was asked to stop, and by which signal."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    def __bool__(self) -> bool:
        return self.signal is not None

    def request(self, number: int, frame: FrameType | None = None) -> None:
        """A signal handler."""
        self.signal = signal.Signals(number)


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn the signals into a request for the time of the block. Main thread only, as Python has it."""
    interruption = Interruption()
    with _handled_by(interruption.request):
        yield interruption


@contextmanager
def stopping() -> Iterator[None]:
    """Let each of the signals end the block as Ctrl-C does, by KeyboardInterrupt."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handled_by(stop):
        yield


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """What the caller ignores stays ignored: SIGHUP under nohup, SIGINT in the background of a script."""
    wanted = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in wanted}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
