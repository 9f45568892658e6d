"""What a person sees while stages run: a live line on a terminal, one line a stage elsewhere."""

from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from npu_assay.evidence.manifest import StageRecord, StageStatus

#: Terminal colours of the statuses.
STYLES = {
    StageStatus.PASS: "green",
    StageStatus.FAIL: "bold red",
    StageStatus.SKIPPED: "red",
    StageStatus.INCONCLUSIVE: "yellow",
    StageStatus.INTERRUPTED: "yellow",
    StageStatus.NOT_APPLICABLE: "cyan",
    StageStatus.NOT_RUN: "dim",
}


class Progress(Protocol):
    """Told by the runner what happens."""

    def stage_started(self, name: str) -> None: ...

    def tick(self, seconds: float) -> None:
        """The running stage has run so long; called often."""

    def stage_ended(self, record: StageRecord) -> None:
        """Also for stages that were never started."""


class PlainProgress:
    """One line when a stage starts and one when it ends, for logs and CI."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def stage_started(self, name: str) -> None:
        self._console.print(f"{name} ...", highlight=False)

    def tick(self, seconds: float) -> None:
        pass

    def stage_ended(self, record: StageRecord) -> None:
        self._console.print(_line(record), highlight=False, soft_wrap=True)


class LiveProgress:
    """A spinner with the stage and its time; a line stays for every stage that ended."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._name = ""
        self._seconds_shown = 0
        self._status: Status | None = None

    def stage_started(self, name: str) -> None:
        self._name, self._seconds_shown = name, 0
        self._status = self._console.status(name)
        self._status.start()

    def tick(self, seconds: float) -> None:
        if self._status is not None and int(seconds) != self._seconds_shown:
            self._seconds_shown = int(seconds)
            self._status.update(f"{self._name} {self._seconds_shown} s")

    def stage_ended(self, record: StageRecord) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
        self._console.print(_line(record), highlight=False, soft_wrap=True)


def progress_on(console: Console) -> Progress:
    """The one that suits where the console writes to."""
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)


def _line(record: StageRecord) -> str:
    style = STYLES[record.status]
    seconds = "" if record.seconds is None else f" in {record.seconds:.1f} s"
    reason = f": {escape(record.reason)}" if record.reason else ""
    return f"{record.name} [{style}]{record.status}[/]{seconds}{reason}"
