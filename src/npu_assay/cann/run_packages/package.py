"""A run package as a lock names it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from npu_assay.cann.agreement import Expected, Part

_OPS = re.compile(r"Ascend-cann-(?P<chip>.+)-ops_.*")


@dataclass(frozen=True)
class RunPackage:
    """One package, for this machine."""

    part: Part
    """TOOLKIT, OPS or NNAL."""
    version: str
    build: str | None
    """As in Expected; None where the lock does not say."""
    file: str
    """The vendor's name of it."""
    sha256: str | None
    """None where nobody has recorded one."""
    elsewhere: Mapping[str, str]
    """The same package for other architectures: architecture -> sha256, of those that are recorded."""

    @property
    def chip(self) -> str | None:
        """The chip that an ops package is for, as its name says: 910b, A3, 310p."""
        match = _OPS.fullmatch(self.file)
        return match["chip"] if match else None


@dataclass(frozen=True)
class Wanted:
    """All packages of a lock, in the order in which they are installed: toolkit, ops, NNAL."""

    packages: tuple[RunPackage, ...]
    expected: Expected
    architecture: str
    record: str
    """The command that records the hash of a file, which is to follow it."""
