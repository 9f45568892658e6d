"""What a look at a machine found, and what mends it: the rooms diagnose, doctor shows."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is, worst first."""

    PROBLEM = "problem"
    """A run here would fail, or prove something else than it says."""
    WARNING = "warning"
    """A run can do its work, but somebody should know."""
    NOTE = "note"
    """A fact worth a line that nobody has to act on."""
    GOOD = "good"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at."""

    check: str
    """What was looked at, a stable name in kebab-case that tests, scripts and troubleshooting docs use."""
    level: Level
    message: str
    """One line: what, where, what was found and what was expected."""
    advice: str | None = None
    """One line: the command that mends it, or what to do. Every problem has one."""

    def __post_init__(self) -> None:
        if self.level is Level.PROBLEM and not self.advice:
            raise ValueError(f"{self.check}: a problem says what mends it")
