"""Versions as CANN, NNAL, driver and firmware write them: 9.0.0, 8.3.RC2, 8.5.0.alpha001, 25.7.rc1.6."""

import re
from dataclasses import dataclass, field
from functools import total_ordering

_SHAPE = re.compile(r"[0-9]+(?:[.-](?:[0-9]+|(?:alpha|beta|rc)[0-9]*))+", re.ASCII)
_PART = re.compile(r"([a-z]*)([0-9]*)", re.ASCII)
#: What stands before a release, in order; where a version ends counts as the release itself.
_RANKS = {"alpha": 0, "beta": 1, "rc": 2, "": 4}
_END = (3, 0)

#: Of a whole innerversion such as V100R001C10SPC001B250; SPC is left out of some (V100R001C10B034).
_INNERVERSION = re.compile(r"(?P<train>V[0-9]+R[0-9]+C[0-9]+)(?:SPC[0-9]+)?(?P<build>B[0-9]+)", re.ASCII)

#: What the emulated CANN, its ATB and its driver have for a build.
EMULATED = "EMULATED"


@total_ordering
@dataclass(frozen=True, eq=False)
class ReleaseVersion:
    """A version that can be compared: numbers, and alpha, beta and rc before the release, in any case.

    Dots and dashes part it. A local part (`+emulated`) does not count, as in PEP 440. PEP 440 itself reads
    most of these versions but not `25.7.rc1.6`.
    """

    text: str
    parts: tuple[tuple[int, int], ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> "ReleaseVersion":
        """Raises ValueError for what is no such version."""
        counted = text.partition("+")[0].lower()
        if not _SHAPE.fullmatch(counted):
            raise ValueError(f"{text!r} is no version such as 9.0.0, 8.3.RC2 or 25.7.rc1.6")
        return cls(text, tuple(map(_part, re.split("[.-]", counted))))

    def is_of(self, series: "ReleaseVersion") -> bool:
        """Whether it belongs to a series: 25.5.1 to 25.5, 26.0.RC1.2 to 26.0.RC1."""
        return self.parts[: len(series.parts)] == series.parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReleaseVersion) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __lt__(self, other: "ReleaseVersion") -> bool:
        return (*self.parts, _END) < (*other.parts, _END)

    def __str__(self) -> str:
        return self.text


def _part(text: str) -> tuple[int, int]:
    """A part's rank and number."""
    match = _PART.fullmatch(text)
    assert match  # _SHAPE has let nothing else through
    word, digits = match.groups()
    return _RANKS[word], int(digits or 0)


def build_of(innerversion: str) -> str | None:
    """The build of an innerversion, such as B250; None for the emulated CANN's and for unknown shapes.

    Two packages of one version and one file name may differ in nothing but this.
    """
    match = _INNERVERSION.fullmatch(innerversion)
    return match["build"] if match else None


def train_of(innerversion: str) -> str | None:
    """What stands before the service pack and the build of an innerversion, such as V100R001C10."""
    match = _INNERVERSION.fullmatch(innerversion)
    return match["train"] if match else None


def is_build(found: str | None, expected: str) -> bool:
    """Whether an innerversion is the expected one, or a build is: either may be expected."""
    if found is None:
        return False
    return expected.upper() in (found.upper(), (build_of(found) or "").upper())


def is_version(found: str, expected: str) -> bool:
    """Whether two texts are one version: 9.0.0 and 9.0.0, 8.3.RC1 and 8.3.rc1."""
    try:
        return ReleaseVersion.parse(found) == ReleaseVersion.parse(expected)
    except ValueError:
        return found == expected
