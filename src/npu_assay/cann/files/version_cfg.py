"""`version.cfg` of a CANN: which version of each of its packages is running, upgraded to and installed.

The form is that of CANN's installer (its version_cfg.inc): `<package>_running_version=[code:name]`, several
pairs of brackets where several versions are installed. Seen for 8.0.RC3 and 8.0.0, where `name` is CANN's
version; 9.0.0's file was not seen.
"""

import re
from dataclasses import dataclass

from npu_assay.cann.files.keyed import read_keyed

_KEY = re.compile(r"(?P<package>.+)_(?P<state>running|upgrade|installed)_version", re.ASCII)
_PAIRS = re.compile(r"(?:\[[^\[\]:]+:[^\[\]:]+\])+")
_PAIR = re.compile(r"\[([^\[\]:]+):([^\[\]:]+)\]")


@dataclass(frozen=True, order=True)
class PackageVersion:
    """A package's version, twice."""

    code: str
    """The package's own, such as 7.6.0.1.220."""
    name: str
    """CANN's, such as 8.0.0."""


@dataclass(frozen=True)
class Package:
    """What version.cfg says about one package of CANN."""

    name: str
    running: tuple[PackageVersion, ...] = ()
    upgrade: tuple[PackageVersion, ...] = ()
    installed: tuple[PackageVersion, ...] = ()


@dataclass(frozen=True)
class VersionCfg:
    """The packages, sorted by name."""

    packages: tuple[Package, ...]

    def running_names(self) -> dict[str, tuple[str, ...]]:
        """CANN's version, as running packages name it, and the packages that name it."""
        names: dict[str, tuple[str, ...]] = {}
        for package in self.packages:
            for version in package.running:
                names[version.name] = (*names.get(version.name, ()), package.name)
        return names


def parse_version_cfg(text: str, source: str) -> VersionCfg:
    """Read a version.cfg; keys of another form are let be. Raises MalformedFileError."""
    keyed = read_keyed(text, source)
    packages: dict[str, dict[str, tuple[PackageVersion, ...]]] = {}
    for key, entry in keyed.entries.items():
        match = _KEY.fullmatch(key)
        if match is None:
            continue
        if not _PAIRS.fullmatch(entry.value):
            keyed.refuse(key, f"{key}: expected [code:name], found {entry.value!r}")
        pairs = tuple(PackageVersion(code.strip(), name.strip()) for code, name in _PAIR.findall(entry.value))
        if not all(pair.code and pair.name for pair in pairs):
            keyed.refuse(key, f"{key}: expected [code:name], found {entry.value!r}")
        packages.setdefault(match["package"], {})[match["state"]] = pairs
    return VersionCfg(tuple(Package(name, **states) for name, states in sorted(packages.items())))
