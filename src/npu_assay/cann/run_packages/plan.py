"""What of a lock's CANN is below a folder already, what is still to be installed, and what is in the way."""

from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.agreement import Part
from npu_assay.cann.discovery import Places, find_installed
from npu_assay.cann.installed import Atb, Installed, Toolkit
from npu_assay.cann.paths import is_there, real_path
from npu_assay.cann.run_packages.package import RunPackage, Wanted
from npu_assay.cann.unfinished import how_to_remove, mark_of, unfinished
from npu_assay.cann.versions import ReleaseVersion, is_build, is_version
from npu_assay.errors import UnusableError

#: From this version on a toolkit is in cann-<version>, before in ascend-toolkit/<version>.
_NEW_LAYOUT = ReleaseVersion.parse("8.5.0")


@dataclass(frozen=True)
class Plan:
    """What is to be done below one folder."""

    needed: tuple[RunPackage, ...]
    """In the order of installation."""
    others: tuple[Toolkit | Atb, ...]
    """What is there besides, and is left alone."""


@dataclass(frozen=True)
class _There:
    """What the version files of an installed part say."""

    version: str
    build: str | None

    def is_of(self, package: RunPackage) -> bool:
        """Whether it is what the package installs; any build is where the lock does not say one."""
        if not is_version(self.version, package.version):
            return False
        # Of NNAL the lock has the build with its version before it; ops of some releases say no build.
        wanted = package.build and package.build.removeprefix(f"{package.version}.")
        optional = package.part is Part.OPS and self.build is None
        return wanted is None or optional or is_build(self.build, wanted)

    def __str__(self) -> str:
        return f"{self.version} ({self.build or 'no build'})"


def folder_of(root: Path, package: RunPackage) -> Path:
    """The folder that the package's installer fills; ops go into the toolkit's."""
    if package.part is Part.NNAL:
        return root / "nnal" / "atb" / package.version
    if ReleaseVersion.parse(package.version) < _NEW_LAYOUT:
        return root / "ascend-toolkit" / package.version
    return root / f"cann-{package.version}"


def make_plan(places: Places, wanted: Wanted) -> Plan:
    """Look at what is there. Raises UnusableError, with what removes it, for what an installer would write
    over: another build of the same version, or what an installation has left that did not end.
    """
    root, installed = places.root, find_installed(places, {})
    needed = []
    for package in wanted.packages:
        folder = folder_of(root, package)
        if mark := unfinished(root, folder):
            raise UnusableError(
                f"{folder}: an installation did not end, as {mark} says, so nothing is installed over it;"
                f" what is there goes with: {how_to_remove(folder, mark)}"
            )
        there = _there(installed, folder, package.part)
        if there is None:
            if package.part is not Part.OPS and is_there(folder):
                raise UnusableError(
                    f"{folder}: no whole {package.part}, so nothing is installed over it; what is there goes"
                    f" with: {how_to_remove(folder)}"
                )
            needed.append(package)
        elif not there.is_of(package):
            raise UnusableError(
                f"{folder}: {package.part} {there} is there, and {_wanted(package)} would be installed over"
                f" it; name another folder with --install-path, or remove it: {how_to_remove(folder)}"
            )
    folders = {real_path(folder_of(root, package)) for package in wanted.packages}
    parts: tuple[Toolkit | Atb, ...] = (*installed.toolkits, *installed.atbs)
    others = tuple(one for one in parts if one.root not in folders)
    return Plan(tuple(needed), others)


def require_installed(places: Places, package: RunPackage) -> None:
    """Raises UnusableError unless the package's files are there and say the lock's version and build."""
    folder = folder_of(places.root, package)
    there = _there(find_installed(places, {}), folder, package.part)
    mark = mark_of(places.root, folder)
    if there is None:
        raise UnusableError(
            f"{package.file} ended well, but there is no whole {package.part} in {folder}; what is there goes"
            f" with: {how_to_remove(folder, mark)}"
        )
    if not there.is_of(package):
        raise UnusableError(
            f"{package.file} has installed {package.part} {there} in {folder}, expected {_wanted(package)};"
            f" the lock's sha256 is of another build than it says; remove it: {how_to_remove(folder, mark)}"
        )


def _wanted(package: RunPackage) -> str:
    return f"{package.version} ({package.build or 'any build'})"


def _there(installed: Installed, folder: Path, part: Part) -> _There | None:
    """The part in that folder; None where it is not there, or not whole."""
    root = real_path(folder)
    if part is Part.NNAL:
        atb = next((one for one in installed.atbs if one.root == root), None)
        if atb is None or atb.value is None or not atb.abis or not (atb.script or installed.atb_script):
            return None
        return _There(atb.value.version, atb.value.build)
    toolkit = next((one for one in installed.toolkits if one.root == root), None)
    if toolkit is None or toolkit.value is None or toolkit.script is None:
        return None
    if part is Part.TOOLKIT:
        return _There(toolkit.value.version, toolkit.value.innerversion)
    ops = toolkit.ops.value if toolkit.ops else None
    return _There(ops.version, ops.innerversion) if ops else None
