"""What is really installed in a site-packages folder, read from its dist-info, without importing anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class Installed:
    """A distribution that is there."""

    name: str
    version: str
    dist_info: Path


def installed(site_packages: Path) -> dict[str, Installed]:
    """All distributions in the folder, by normalised name."""
    return {name: found[-1] for name, found in all_installed(site_packages).items()}


def all_installed(site_packages: Path) -> dict[str, list[Installed]]:
    """As `installed`, with all that share a name: an interrupted pip can leave two."""
    found: dict[str, list[Installed]] = {}
    for distribution in distributions(path=[str(site_packages)]):
        try:
            metadata = distribution.metadata  # parsed at every access
        except (OSError, UnicodeDecodeError):  # of which pip makes nothing, too
            continue
        if metadata["Name"] is None or metadata["Version"] is None:  # no METADATA, or an empty one: likewise
            continue
        name = canonicalize_name(metadata["Name"])
        location = Path(str(distribution.locate_file("")))
        dist_info = getattr(distribution, "_path", location)  # public only as of Python 3.14's `origin`
        one = Installed(name=name, version=metadata["Version"], dist_info=Path(str(dist_info)))
        found.setdefault(name, []).append(one)
    return found


def require_versions(site_packages: Path, versions: Mapping[str, str]) -> None:
    """Check that exactly these versions are installed. Raises UnusableError for the first that is not."""
    found = installed(site_packages)
    for name, version in versions.items():
        there = found.get(canonicalize_name(name))
        if there is None or there.version != version:
            found_version = there.version if there else "not installed"
            raise UnusableError(f"{site_packages}: {name} is {found_version}, the lock says {version}")
