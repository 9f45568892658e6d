"""One difference between a lock and a machine."""

from npu_assay.diagnosis import Level
from npu_assay.strict import Strict


class Difference(Strict):
    """What was looked at, what the lock says, what was found, and what mends it."""

    check: str
    """A stable name in kebab-case, such as component-version."""
    level: Level
    """problem: not what the lock says. warning: beside what the lock says. note: a fact."""
    subject: str
    """The component, distribution or part that it is about."""
    expected: str | None = None
    found: str | None = None
    message: str
    """One line."""
    advice: str | None = None
    """One line: the command that mends it. Every problem has one."""
