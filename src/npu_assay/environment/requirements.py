"""The hash-locked dependencies of an environment, read from the file that pip installs."""

from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from npu_assay.errors import UsageError

_HASH = "--hash=sha256:"


@dataclass(frozen=True)
class Pin:
    """One dependency: its normalised name, its version and the sha256 of every file of that version."""

    name: str
    version: str
    sha256: frozenset[str]


def read_pins(path: Path) -> tuple[Pin, ...]:
    """The pins of a requirements file as ci/lock writes them, in its order, without those for other systems.

    Raises UsageError, with file and line, for anything that is not `name==version` with hashes.
    """
    pins: list[Pin] = []
    for number, line in _logical_lines(path.read_text()):
        requirement_text, *hashes = (part.strip() for part in line.split(" --hash=sha256:"))
        try:
            requirement = Requirement(requirement_text)
        except InvalidRequirement as error:
            raise UsageError(f"{path}:{number}: {requirement_text!r} is no requirement: {error}") from error
        specifiers = [*requirement.specifier]
        if len(specifiers) != 1 or specifiers[0].operator != "==" or not hashes:
            raise UsageError(f"{path}:{number}: expected name==version with {_HASH}..., found {line!r}")
        if requirement.marker is None or requirement.marker.evaluate():
            name = canonicalize_name(requirement.name)
            pins.append(Pin(name, specifiers[0].version, frozenset(hashes)))
    return tuple(pins)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with their continuations joined, without comments; each with the number of its first line."""
    found: list[tuple[int, str]] = []
    open_at, parts = 0, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not parts and (not line or line.startswith("#")):
            continue
        open_at = open_at if parts else number
        parts += " " + line.removesuffix("\\").strip()
        if not line.endswith("\\"):
            found.append((open_at, parts.strip()))
            parts = ""
    if parts:
        found.append((open_at, parts.strip()))
    return found
