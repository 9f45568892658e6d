"""Installing the packages of a lock below one folder: checked all before the first runs, in order, once."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from npu_assay.cache import folder_lock, writing
from npu_assay.cann.agreement import Part
from npu_assay.cann.discovery import Places, find_installed
from npu_assay.cann.run_packages.installer import run_installer
from npu_assay.cann.run_packages.links import Links
from npu_assay.cann.run_packages.package import RunPackage, Wanted
from npu_assay.cann.run_packages.plan import Plan, folder_of, make_plan, require_installed
from npu_assay.cann.run_packages.room import needed_mib
from npu_assay.cann.run_packages.sources import Checked, Report, Sources
from npu_assay.cann.scripts import sourced
from npu_assay.cann.unfinished import how_to_remove, mark_of
from npu_assay.cann.variables import without_cann
from npu_assay.disk import require_free
from npu_assay.errors import UnusableError, UsageError

#: What an installer must not take from the caller's shell: it would install for, or with, another CANN.
_NOT_INHERITED = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME")
_ADVICE = "make room, or name another folder with --install-path"


@dataclass(frozen=True)
class Installation:
    """What to install, where, and from what."""

    wanted: Wanted
    places: Places
    """Below whose root."""
    sources: Sources
    log: Path
    chip: str | None = None
    """Which ops package this host's NPUs want (910b, A3, 310p); None where that is not known."""
    licence_accepted: bool = False
    for_all: bool = field(default_factory=lambda: os.geteuid() == 0)
    """Whether other users may use it, too."""
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    require_room: Callable[..., None] = require_free

    @property
    def root(self) -> Path:
        """The folder that everything goes below."""
        return self.places.root

    def run(self, report: Report) -> bool:
        """Install what is missing; whether there was anything.

        Raises UsageError for a package that may not run, and UnusableError when one fails or something is in
        the way; nothing has run then, or the message says what has.
        """
        self._require_chip()
        with suppress(UnusableError):  # perhaps somebody is at it just now: the lock tells
            if not self._possible(make_plan(self.places, self.wanted)).needed:
                return False
        with _held(self.root, report):
            plan = self._possible(make_plan(self.places, self.wanted))
            if not plan.needed:
                return False
            self._install(plan, report)
        return True

    def _possible(self, plan: Plan) -> Plan:
        """The same. Raises UsageError for what is seen without writing or reading much."""
        for package in plan.needed:
            self.sources.require(package, self.wanted)
        if plan.needed and not self.licence_accepted:
            raise UsageError(
                f"{', '.join(package.file for package in plan.needed)} would be installed with --quiet, which"
                " accepts the vendor's licence (EULA) for you; read it where you got them, then say"
                " --accept-licence"
            )
        return plan

    def _require_chip(self) -> None:
        """Ops for another chip install well, and then every operator fails."""
        for package in self.wanted.packages:
            if package.chip is not None and self.chip is not None and package.chip != self.chip:
                raise UnusableError(
                    f"this host's NPUs want Ascend-cann-{self.chip}-ops, and the lock has {package.file};"
                    f" it needs a lock whose cann-ops is Ascend-cann-{self.chip}-ops_{package.version}"
                )

    def _install(self, plan: Plan, report: Report) -> None:
        checked = [self.sources.checked(package, self.wanted, report) for package in plan.needed]
        self.require_room(self.root, needed_mib(checked), "installing CANN, as is reckoned,", _ADVICE)
        for other in plan.others:
            report(f"left alone: {other}")
        for package in plan.needed:
            if package.chip is not None and self.chip is None:
                report(f"no NPU tells which it is: {package.file} is for {package.chip}")
        links, before = Links.of(self.root), _versions(self.places)
        for one in checked:
            self._install_one(one, report)
        for line in links.changed():
            report(line)
        for line in _touched(before, _versions(self.places), plan):
            report(line)

    def _install_one(self, checked: Checked, report: Report) -> None:
        package, folder = checked.package, folder_of(self.root, checked.package)
        mark = mark_of(self.root, folder)
        report(f"installing {checked.path.name} into {folder} (log: {self.log})")
        with writing(self.root, what="below the folder to install into", advice=_ADVICE):
            mark.write_text(f"{package.file} sha256 {package.sha256} log {self.log}\n")
        try:
            with _scratch(self.root) as scratch:
                variables = self._variables_for(package) | {"TMPDIR": str(scratch)}
                run_installer(checked, self.root, self.log, variables, for_all=self.for_all)
        except UnusableError as error:
            there = f"{folder} is there now" if folder.exists() else f"{folder} is not there"
            raise UnusableError(
                f"{error}; {there}, half installed; before the next try: {how_to_remove(folder, mark)}"
            ) from error
        require_installed(self.places, package)
        mark.unlink()

    def _variables_for(self, package: RunPackage) -> dict[str, str]:
        """NNAL's installer wants CANN's variables, the others' those of no CANN."""
        clean = {
            name: value for name, value in without_cann(self.variables).items() if name not in _NOT_INHERITED
        }
        if package.part is not Part.NNAL:
            return clean
        toolkit = folder_of(self.root, self.wanted.packages[0]).resolve()
        found = find_installed(self.places, {}).toolkits
        script = next((one.script for one in found if one.root == toolkit and one.script), None)
        if script is None:
            raise UnusableError(f"{toolkit}: no set_env.sh, which NNAL's installer wants to be sourced first")
        return sourced([script], clean)


@contextmanager
def _held(root: Path, report: Report) -> Iterator[None]:
    """Holds the folder to install into against other npu-assays, whoever runs them."""
    lock = root / ".npu-assay"
    with writing(root, what="the folder to install into", advice=_ADVICE):
        root.mkdir(parents=True, exist_ok=True)
        lock.with_name(f"{lock.name}.lock").touch()  # folder_lock would speak of the cache
    with folder_lock(lock, lambda: report(f"waiting for another npu-assay that installs into {root}")):
        yield


@contextmanager
def _scratch(root: Path) -> Iterator[Path]:
    """Where installers unpack: on the disk that was asked for room, and gone afterwards, however they end."""
    scratch = root / ".npu-assay.tmp"
    shutil.rmtree(scratch, ignore_errors=True)
    with writing(root, what="the folder to install into", advice=_ADVICE):
        scratch.mkdir()
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _versions(places: Places) -> dict[Path, str]:
    installed = find_installed(places, {})
    return {one.root: str(one) for one in (*installed.toolkits, *installed.atbs)}


def _touched(before: Mapping[Path, str], after: Mapping[Path, str], plan: Plan) -> Iterator[str]:
    """What the installers did to what was to be left alone: no file of it is ours to mend."""
    for other in plan.others:
        if after.get(other.root) != before.get(other.root):
            yield (
                f"the installers have changed {before.get(other.root)}:"
                f" now {after.get(other.root, 'it is gone')}"
            )
