"""The host's CANN: what is installed here, held against what a lock expects. Nothing is installed or changed.

What chooses is in choice.py, what is judged are the checks that doctor makes, on the variables that a process
gets from the chosen CANN's own scripts. It was tried on trees of the vendor's layouts, never on a host with
an NPU.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from npu_assay.cann.checks.look import Look
from npu_assay.cann.choice import Choice, choose, usual_places
from npu_assay.cann.cxx_abi import torch_cxx_abi
from npu_assay.cann.diagnose import judge
from npu_assay.cann.discovery import Places, find_installed
from npu_assay.cann.installed import Installed
from npu_assay.cann.paths import is_file
from npu_assay.cann.provider import Report, Target
from npu_assay.cann.tree import CannTree
from npu_assay.cann.variables import cann_variables
from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.errors import UnusableError

#: Checks that say something of the driver, which machines that only install or compile do without.
_OF_THE_DRIVER = ("ascend-hal", "cann-driver", "cann-firmware", "driver-status")
#: For the scripts alone: a process gets its caller's PATH.
_PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


@dataclass(frozen=True)
class HostProvider:
    """The CANN of the caller's variables, else the installed one that the lock means."""

    name: str = "host"
    needs: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """The caller's."""
    places: tuple[Places, ...] = ()
    """Where to look; empty for the usual places."""

    def choice(self, target: Target) -> Choice:
        """Which one is used, and why; not judged. Raises UnusableError where there is none to choose."""
        places = self.places or usual_places(self.variables)
        return choose(self.variables, target.expected, places)

    def locate(self, target: Target) -> CannTree:
        """The chosen one, judged; what is wrong with the driver is in the tree's `faults`.

        Raises UnusableError with a line for each other fault: what was found, what was expected, what mends
        it.
        """
        return self._judged(target, self.choice(target))

    def ready(self, target: Target) -> bool:
        """Whether there is one that can be used."""
        try:
            self.locate(target)
        except UnusableError:
            return False
        return True

    def provide(self, target: Target, report: Report) -> CannTree:
        """The same as `locate`, and says which it is."""
        choice = self.choice(target)
        tree = self._judged(target, choice)
        report(str(choice))
        for fault in tree.faults:
            report(f"nothing can run here yet: {fault}")
        return tree

    def _judged(self, target: Target, choice: Choice) -> CannTree:
        faults = [fault for fault in _diagnoses(target, choice) if fault.level is Level.PROBLEM]
        of_cann = tuple(_line(fault) for fault in faults if fault.check not in _OF_THE_DRIVER)
        tree = _tree(target, choice)
        if of_cann or tree is None:  # one without its scripts is a fault
            raise UnusableError("\n".join(of_cann))
        return replace(tree, faults=tuple(_line(fault) for fault in faults))


def _line(fault: Diagnosis) -> str:
    return f"{fault.message} -> {fault.advice}"


def _tree(target: Target, choice: Choice) -> CannTree | None:
    """Where its parts are; None where one is missing that nothing can be done without."""
    toolkit, atb = choice.installed.toolkit, choice.installed.atb
    atb_script = (atb.script if atb else None) or choice.installed.atb_script
    if toolkit is None or toolkit.info is None or toolkit.script is None or not (atb and atb_script):
        return None
    return CannTree(
        root=choice.places.root,
        cann_script=toolkit.script,
        atb_script=atb_script,
        install_info=toolkit.info.path,
        driver=choice.installed.driver.root,
        other_tools=tuple(folder for folder in choice.places.npu_smi if is_file(folder / "npu-smi")),
        cxx_abi=torch_cxx_abi(target.site_packages),
    )


def _diagnoses(target: Target, choice: Choice) -> list[Diagnosis]:
    """What the checks say of it, as a process would find it after its scripts were sourced."""
    # Links and variables that nobody uses are doctor's business.
    variables, installed = {}, replace(choice.installed, dangling=())
    strayed: list[Diagnosis] = []
    tree = _tree(target, choice)
    if tree is not None:
        variables = cann_variables(tree, _PATH)
        seen = replace(find_installed(choice.places, variables), dangling=())
        strayed = _strayed(tree, choice, seen)
        installed = installed if strayed else seen
    site = target.site_packages if target.site_packages.is_dir() else None
    return [*strayed, *judge(Look(choice.places, variables, target.expected, site, installed))]


def _strayed(tree: CannTree, choice: Choice, seen: Installed) -> list[Diagnosis]:
    """Scripts that lead to another toolkit or ATB than they belong to, such as by a link."""
    found = []
    pairs = (
        (tree.cann_script, choice.installed.toolkit, seen.toolkit),
        (tree.atb_script, choice.installed.atb, seen.atb),
    )
    for script, chosen, got in pairs:
        if chosen is not None and (got is None or got.root != chosen.root):
            found.append(
                Diagnosis(
                    "cann-scripts",
                    Level.PROBLEM,
                    f"{script} leads to {got or 'nothing'}, expected {chosen}",
                    "make its links lead there, or install that package anew",
                )
            )
    return found
