"""Which versions were loaded, from where, and which ones the lock asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.document import read_document
from npu_assay.evidence.manifest import Manifest
from npu_assay.strict import first_problem

FILE = "environment.json"
#: Where most packages are, so that their files need not say it again.
_SITE = "/site-packages/"


class _Package(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    name: str
    version: str
    path: str


class _Facts(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    packages: list[_Package]
    cann_identity: str


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
    site_packages: str = ""
    """The folder that paths which begin with no slash are in."""
    problem: str = ""
    """Why nothing is known of what was loaded."""


def components(archive: Archive, manifest: Manifest) -> Components:
    """The lock's components first, in its order."""
    locked = {name: _locked(manifest, name) for name in manifest.environment.versions}
    try:
        facts = _Facts.model_validate(read_document(archive.environment, FILE))
    except UsageError as error:
        return Components(_rows(locked, {}, ""), problem=str(error))
    except ValidationError as error:
        return Components(_rows(locked, {}, ""), problem=f"{FILE}: {first_problem(error)}")
    found = {one.name: one for one in facts.packages}
    if "cann" in locked:
        found.setdefault("cann", _Package(name="cann", version=facts.cann_identity, path=""))
    site = _site_packages(found)
    return Components(_rows(locked, found, site), site)


def _locked(manifest: Manifest, name: str) -> str:
    build = manifest.environment.builds.get(name)
    version = manifest.environment.versions[name]
    return version if build is None else f"{version} ({build})"


def _site_packages(found: Mapping[str, _Package]) -> str:
    """The folder that the first package is in, with a slash; empty where it is in none."""
    before, mark, _ = next(iter(found.values()), _Package(name="", version="", path="")).path.partition(_SITE)
    return before + mark if mark else ""


def _rows(locked: Mapping[str, str], found: Mapping[str, _Package], site: str) -> tuple[Component, ...]:
    rows = []
    for name in [*locked, *(one for one in found if one not in locked)]:
        package = found.get(name)
        version, path = (package.version, package.path) if package else ("", "")
        rows.append(Component(name, locked.get(name, ""), version, path.removeprefix(site)))
    return tuple(rows)
