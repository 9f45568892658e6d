"""What the checks look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
