"""One way to corrupt an archive, and the rule that finds it even when everything was sealed again."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from mutations.forged import Forged
from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result

EMULATED, HARDWARE = "emulated", "hardware"


class Sealing(StrEnum):
    """What the second run of a mutation seals again."""

    ALL = "SHA256SUMS and what is derived from the archive"
    DERIVED = "what is derived; the corruption is that of SHA256SUMS"
    SUMS = "SHA256SUMS; the corruption is that of a derived file"
    NOTHING = "nothing; there is something in the archive that can't be sealed"


@dataclass(frozen=True)
class Mutation:
    """A corruption of good archives."""

    name: str
    change: Callable[[Forged], object]
    rule: str
    """Its name, without version."""
    kinds: tuple[str, ...] = (EMULATED, HARDWARE)
    """Of the archives that it can be done to."""
    result: Result = Result.FAIL
    """Of the rule's finding. INCONCLUSIVE where only this checkout's own data could decide."""
    sealing: Sealing = Sealing.ALL
    names: str | None = None
    """The file that is found as long as nothing is sealed again; by default any."""
    as_is: str = "integrity"
    """The rule that finds it as long as nothing is sealed again."""
    mode: Mode | None = None
    """Of the second run; by default the strictest in which the good archive passes."""
