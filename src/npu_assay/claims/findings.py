"""Findings: what a rule saw, and where it saw it."""

from dataclasses import dataclass
from enum import StrEnum

from npu_assay.printable import printable

#: Characters of a message: what it quotes may be as long as its author liked.
MOST_OF_A_MESSAGE = 2000


class Result(StrEnum):
    """Of a finding and of a verdict. Inconclusive is never a pass; not applicable has its reason."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Evidence:
    """A place in the archive."""

    file: str
    """Relative to the archive's root."""
    line: int | None = None
    """Counted from 1."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Finding:
    """One thing that a rule found out."""

    rule: str
    """The rule's name and version, such as `integrity/1`."""
    result: Result
    message: str
    evidence: tuple[Evidence, ...] = ()
    traceback: str = ""
    """Of an error in the rule itself."""

    def __post_init__(self) -> None:
        """Make the message one line: control characters and changes of direction in what it quotes show."""
        message = printable(self.message[: MOST_OF_A_MESSAGE + 1])
        if len(message) > MOST_OF_A_MESSAGE:
            message = f"{message[:MOST_OF_A_MESSAGE]}… ({len(self.message)} characters)"
        object.__setattr__(self, "message", message)
