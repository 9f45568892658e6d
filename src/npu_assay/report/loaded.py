"""Which versions were loaded, from where, and which ones the lock asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from npu_assay.evidence.archive import Archive
from npu_assay.evidence.loaded import LoadedRecord, read_loaded
from npu_assay.evidence.manifest import Manifest

#: Components that are shown; those of the lock come first.
MOST = 300
#: Where most packages are, so that their files need not say it again.
_SITE = "/site-packages/"


@dataclass(frozen=True)
class Component:
    """What was loaded, beside what the lock asks for; empty where one of the two says nothing."""

    name: str
    locked: str
    loaded: str
    path: str


@dataclass(frozen=True)
class Components:
    """The table."""

    rows: tuple[Component, ...]
    site_packages: str
    """The folder that paths which begin with no slash are in."""
    problem: str
    """Why nothing is known of what was loaded."""


def components(archive: Archive, manifest: Manifest) -> Components:
    """The lock's components first, in its order."""
    locked = {name: _locked(manifest, name) for name in manifest.environment.versions}
    found = read_loaded(archive.environment)
    if found is None:
        return Components(
            _rows(locked, {}, ""), "", f"{archive.environment.name} does not say what was loaded"
        )
    site = _site_packages(found)
    return Components(_rows(locked, found, site), site, "")


def _locked(manifest: Manifest, name: str) -> str:
    build = manifest.environment.builds.get(name)
    version = manifest.environment.versions[name]
    return version if build is None else f"{version} ({build})"


def _site_packages(found: Mapping[str, LoadedRecord]) -> str:
    """The folder that the first component is in, with a slash; empty where it is in none."""
    for loaded in found.values():
        before, mark, _ = loaded.file.partition(_SITE)
        return before + mark if mark else ""
    return ""


def _rows(locked: Mapping[str, str], found: Mapping[str, LoadedRecord], site: str) -> tuple[Component, ...]:
    rows = []
    for name in [*locked, *(one for one in found if one not in locked)]:
        loaded = found.get(name)
        version, path = (loaded.version, loaded.file) if loaded else ("", "")
        rows.append(Component(name, locked.get(name, ""), version, path.removeprefix(site)))
    return tuple(rows[:MOST])
