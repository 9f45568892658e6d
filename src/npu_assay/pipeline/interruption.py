"""Ctrl-C and SIGTERM ask a run to stop; it ends its stage and finishes the archive."""

import signal
from collections.abc import Iterator
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
    before = {number: signal.signal(number, interruption.request) for number in _SIGNALS}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
