"""What is compared: a site-packages folder, the variant it should be, and how its owner mends it."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from npu_assay.cann.discovery import Places, root_of
from npu_assay.cann.variables import cann_variables
from npu_assay.environment.ascend_build.locked import DISTRIBUTION
from npu_assay.environment.ascend_build.locked_build import locked_build
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import Installed, all_installed, installed
from npu_assay.environment.lock import Component
from npu_assay.environment.requirements import Pin, read_pins
from npu_assay.environment.tritons import is_edited_here
from npu_assay.environment.variant import Variant
from npu_assay.environment.venv import OtherPython
from npu_assay.errors import UnusableError
from npu_assay.project import ADAPTATIONS


@dataclass(frozen=True)
class Mend:
    """The commands that mend an environment."""

    python: Path
    """Its Python."""
    again: str | None = None
    """For one that npu-assay made: the command that makes it again, which mends everything in it."""
    rest: str | None = None
    """Likewise: the command that makes what is missing beside it, CANN and plug-in."""

    @property
    def pip(self) -> str:
        """How its pip is called."""
        return f"{shlex.quote(str(self.python))} -m pip"

    def install(self, variant: Variant, name: str) -> str:
        """Installs a component as the lock has it, over what is there."""
        if self.again:
            return self.again
        component = variant.component(name)
        force = f"{self.pip} install --no-deps --force-reinstall"
        if component.source == "git":
            return f"{force} git+{component.repository}@{component.commit}"
        if name == "vllm":  # as the step does it
            force = f"VLLM_TARGET_DEVICE=empty {force} --no-build-isolation --no-binary=vllm"
        if name == "triton-ascend":
            return self.triton(component)
        return f"{force} {name}=={component.version}"

    def require(self, name: str, version: str) -> str:
        """Installs a requirement."""
        return self.again or f"{self.pip} install --no-deps {name}=={version}"

    def triton(self, component: Component) -> str:
        """Makes the package triton whole again.

        Two distributions share its folder, so that taking one away breaks the other (vllm-ascend PR #7790):
        both go, then the right one comes back. One that only the vendor's index has is there before they go.
        """
        if self.again:
            return self.again
        wanted = f"--no-deps triton-ascend=={component.version}"
        commands = ["uninstall -y triton", "uninstall -y triton-ascend", f"install {wanted}"]
        if component.source == "vendor-index":
            commands.insert(0, f"download --dest /tmp/triton --extra-index-url VENDORS_INDEX {wanted}")
            commands[-1] += " --find-links /tmp/triton"
        edit = [self.edit()] if is_edited_here(component.version) else []
        return " && ".join([*(f"{self.pip} {command}" for command in commands), *edit])

    def edit(self) -> str:
        """Removes set_device_limit from triton-ascend."""
        return self.again or f"npu-assay env edit-triton --python {shlex.quote(str(self.python))}"

    def adaptations(self) -> str:
        """Installs this checkout's plug-in."""
        return self.rest or f"{self.pip} install --no-deps {shlex.quote(str(ADAPTATIONS))}"

    def cann(self, variant: Variant) -> str:
        """Puts CANN there: the host's, or the emulated one with the rest of its environment."""
        command = variant.cann_command
        return f"{command} --from DIR" if command else self.rest or variant.install_command


@dataclass(frozen=True)
class CannPlaces:
    """Where to look for CANN."""

    places: Places
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Look:
    """A site-packages folder beside the variant of a lock that it should be."""

    variant: Variant
    site_packages: Path
    mend: Mend
    python_version: str | None = None
    """3.11.6; None where nobody could tell."""
    adaptations: Path | None = None
    """Where the plug-in is when it is not in site_packages: the folder for PYTHONPATH."""
    cann: CannPlaces | None = None
    """The CANN to compare; None to leave it out."""
    compiled: Mapping[str, Path | None] = field(default_factory=dict)
    """Component that was compiled into the cache -> the folder for PYTHONPATH; None where it was not yet."""

    @cached_property
    def distributions(self) -> dict[str, list[Installed]]:
        """Normalised name -> every distribution of that name, which should be one."""
        return all_installed(self.site_packages)

    @cached_property
    def pins(self) -> dict[str, Pin]:
        """The lock's requirements by name."""
        return {pin.name: pin for pin in read_pins(self.variant.lock.requirements_file)}

    def one(self, name: str) -> Installed | None:
        """The distribution of that name, if any."""
        if name in self.compiled:
            site = self.compiled[name]
            return None if site is None else installed(site).get(name)
        return next(iter(self.distributions.get(name, ())), None)


def look_at(environment: Environment) -> Look:
    """An environment that npu-assay made, with all that belongs to it."""
    return Look(
        variant=environment.variant,
        site_packages=environment.site_packages,
        mend=Mend(
            environment.python,
            again=f"{environment.variant.install_command} --again",
            rest=environment.variant.install_command,
        ),
        python_version=version_of_venv(environment.venv),
        adaptations=environment.adaptations,
        cann=_emulated_cann(environment)
        if environment.variant.kind == "emulated"
        else _cann_of_a_run(environment),
        compiled=_compiled(environment),
    )


def _compiled(environment: Environment) -> dict[str, Path | None]:
    if not environment.variant.compiles(DISTRIBUTION):
        return {}
    folder = locked_build(environment)
    return {DISTRIBUTION: folder and folder / "site"}


def look_at_other(variant: Variant, other: OtherPython) -> Look:
    """A venv that somebody else made, beside a variant. The emulator is built against our own ones only."""
    return Look(
        variant=variant,
        site_packages=other.site_packages,
        mend=Mend(other.python),
        python_version=other.version,
        cann=cann_of_host() if variant.kind == "hardware" else None,
    )


def cann_of_host(variables: Mapping[str, str] = os.environ) -> CannPlaces:
    """The CANN that the caller's variables name, else the usual place's."""
    return CannPlaces(Places(root_of(variables)), variables)


def _cann_of_a_run(environment: Environment) -> CannPlaces:
    """The host's that a run would use; where none can be used, what is there."""
    try:
        tree = environment.cann
    except UnusableError:
        return cann_of_host()
    return CannPlaces(Places(tree.root), cann_variables(tree, os.environ))


def _emulated_cann(environment: Environment) -> CannPlaces:
    root = environment.cann.root
    return CannPlaces(Places(root=root, usual=root, host_info=root / "no-such-file"), {})


def version_of_venv(venv: Path) -> str | None:
    """The version that pyvenv.cfg of a virtual environment names; None where it has none."""
    try:
        text = (venv / "pyvenv.cfg").read_text()
    except OSError:
        return None
    values = {
        key.strip(): value.strip() for key, _, value in (line.partition("=") for line in text.splitlines())
    }
    version = values.get("version") or values.get("version_info")  # virtualenv and uv write the second
    return ".".join(version.split(".")[:3]) if version else None
