"""The machine that is looked at: which CANN, which nodes, which Python, and the variables of a run on it."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from npu_assay.cann import diagnose as cann
from npu_assay.cann.agreement import Expected
from npu_assay.cann.discovery import TOOLKIT_VARIABLES, USUAL_ROOT, Places, root_of
from npu_assay.cann.host import HostProvider
from npu_assay.cann.tree import CannTree
from npu_assay.cann.variables import cann_variables
from npu_assay.device import diagnose as device
from npu_assay.device.nodes import read_nodes
from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.doctor.examination import Look
from npu_assay.environment import diagnose as environment
from npu_assay.environment.drift.look import look_at_other
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import Kind
from npu_assay.environment.venv import OtherPython
from npu_assay.errors import UnusableError

DEV = Path("/dev")


def kind_here(dev: Path = DEV, usual: Path = USUAL_ROOT) -> Kind:
    """hardware where there are nodes or a driver: a container that lacks one of the two has to hear of it."""
    return "hardware" if read_nodes(dev).dies or (usual / "driver").exists() else "emulated"


@dataclass(frozen=True)
class Machine:
    """An environment and what there is for it to run on."""

    environment: Environment
    root: Path | None = None
    """A CANN given by name; None for the one that a run would use."""
    dev: Path = DEV
    python: OtherPython | None = None
    """A Python that somebody else made, in place of the environment's own."""
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    places: tuple[Places, ...] = ()
    """Where the host's CANN is looked for; empty for the usual places."""

    @property
    def looks(self) -> dict[str, Look]:
        """Name of a part -> how to look at it; what others need comes first, as its problems do."""
        parts = {"environment": self._environment, "cann": self._cann, "npu": self._npu}
        return parts if self.emulated else dict(reversed(parts.items()))

    @property
    def emulated(self) -> bool:
        return self.environment.variant.kind == "emulated"

    @cached_property
    def tree(self) -> CannTree:
        """The CANN that counts."""
        if self.root is not None:
            return CannTree.laid_out(self.root)
        if self.emulated:
            return self.environment.cann
        return self._of_the_host or CannTree.laid_out(root_of(self.variables))

    @cached_property
    def _of_the_host(self) -> CannTree | None:
        """The CANN that a run finds by itself where this shell has sourced none; None where none fits."""
        if self.python is not None or any(self.variables.get(name) for name in TOOLKIT_VARIABLES):
            return None
        try:
            return HostProvider(variables=self.variables, places=self.places).locate(self.environment.target)
        except UnusableError:
            return None

    @property
    def _is_built(self) -> bool:
        return self.root is not None or not self.emulated or self.environment.cann.cann_script.is_file()

    @cached_property
    def _of_a_run(self) -> dict[str, str]:
        """The variables of a run: on the host the user's own, if the shell has sourced a CANN."""
        base, tools = dict(self.variables), str(self.tree.tools)
        # A CANN that was named brings its npu-smi; else the one on PATH is the one that users see.
        first = self.emulated or self.root is not None
        path = [tools, base.get("PATH", "")] if first else [base.get("PATH", ""), tools]
        base["PATH"] = os.pathsep.join(filter(None, path))
        scripts = (self.tree.cann_script, self.tree.atb_script)
        if self.emulated and all(script.is_file() for script in scripts):
            clean = {name: value for name, value in base.items() if not name.startswith(("ASCEND_", "ATB_"))}
            return cann_variables(self.tree, clean)
        if self.root is None and not self.emulated and self._of_the_host is not None:
            return cann_variables(self._of_the_host, base)
        return base

    def _environment(self) -> Iterable[Diagnosis]:
        if self.python is not None:
            return environment.diagnose_packages(look_at_other(self.environment.variant, self.python))
        return environment.diagnose(self.environment)

    def _cann(self) -> Iterable[Diagnosis]:
        if not self._is_built:
            return [
                Diagnosis(
                    "cann-built",
                    Level.PROBLEM,
                    f"{self.tree.root}: the emulated CANN is not built",
                    self.environment.variant.install_command,
                )
            ]
        variant = self.environment.variant
        site = self.python.site_packages if self.python else self.environment.site_packages
        return cann.diagnose(
            Places(self.tree.root),
            self._of_a_run,
            Expected.of(variant.versions, variant.builds, variant.cann_command),
            site if site.is_dir() else None,
        )

    def _npu(self) -> Iterable[Diagnosis]:
        if not self._is_built:
            return [Diagnosis("npu", Level.NOTE, "no emulated NPU before the emulated CANN is built")]
        looked = device.look(self._of_a_run, self.dev, self.tree.driver)
        return device.diagnose(looked, hardware=not self.emulated)
