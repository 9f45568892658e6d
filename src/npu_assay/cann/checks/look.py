"""What the checks look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann import advice
from npu_assay.cann.agreement import Expected
from npu_assay.cann.discovery import Places
from npu_assay.cann.installed import Installed


@dataclass(frozen=True)
class Look:
    """A machine's CANN, as a process with these variables would find it, and what is expected of it."""

    places: Places
    variables: Mapping[str, str]
    expected: Expected
    site_packages: Path | None
    """Of the torch that loads this CANN; None where there is none to compare with."""
    installed: Installed

    @property
    def atb_script(self) -> Path:
        """ATB's set_env.sh, where it is or should be."""
        return self.installed.atb_script or self.places.root / "nnal" / "atb" / "set_env.sh"

    def install_toolkit(self, version: str | None) -> str:
        """What installs the toolkit of that version."""
        expected = version == self.expected.version
        return self._command(expected) or advice.install_toolkit(version, self.places.machine)

    def install_ops(self, version: str, chip: str | None) -> str:
        """What installs the ops package of that version."""
        expected = version == self.expected.ops_version
        return self._command(expected) or advice.install_ops(version, self.places.machine, chip)

    def install_nnal(self, version: str) -> str:
        """What installs the NNAL of that version."""
        expected = version == self.expected.atb_version
        return self._command(expected) or advice.install_nnal(version, self.places.machine)

    def _command(self, expected: bool) -> str | None:
        """Our own command installs what is expected, and nothing else."""
        command = self.expected.command
        return f"{command} --from DIR" if command and expected else None
