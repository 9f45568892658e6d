"""The clock of a run."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class RunClock:
    """Reads the wall clock once, and the monotonic one from then on.

    So no stage lies outside of its run, or ends before it starts, because somebody set the host's time.
    """

    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    _began: float = field(default_factory=time.monotonic)

    def now(self) -> datetime:
        """The time in UTC."""
        return self.started + timedelta(seconds=time.monotonic() - self._began)
