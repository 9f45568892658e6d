"""A CANN on disk: where its scripts, its driver and its record of its build are."""

import platform
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.files.install_info import parse_toolkit_install_info
from npu_assay.cann.files.reading import read_version_file
from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class CannTree:
    """One CANN with the ATB and the driver that go with it, wherever each of them is."""

    root: Path
    """The folder that it was installed into, such as /usr/local/Ascend."""
    cann_script: Path
    """The script that sets what CANN's libraries and tools need."""
    atb_script: Path
    """The script that sets what NNAL's ATB needs; sourced after CANN's."""
    install_info: Path
    """CANN's own record of its version, `key=value` a line."""
    driver: Path
    """The driver's folder: that of the host, often, where CANN is a user's own."""
    other_tools: tuple[Path, ...] = ()
    """Where npu-smi is besides; PATH has them last."""
    faults: tuple[str, ...] = ()
    """Why no process can use a device here, a line each, though CANN itself is right: the driver's faults.
    What is compiled against this CANN needs no driver.
    """
    cxx_abi: int | None = None
    """The C++ ABI that ATB's script is told to choose; None leaves it to the script, which imports torch."""

    @classmethod
    def laid_out(cls, root: Path) -> "CannTree":
        """The CANN that `root/cann` is or links to: the layout since 8.5.0."""
        return cls(
            root=root,
            cann_script=root / "cann" / "set_env.sh",
            atb_script=root / "nnal" / "atb" / "set_env.sh",
            install_info=root / "cann" / f"{platform.machine()}-linux" / "ascend_toolkit_install.info",
            driver=root / "driver",
        )

    @property
    def driver_folders(self) -> tuple[Path, ...]:
        """Folders of the driver's libraries; no environment script names them."""
        libraries = self.driver / "lib64"
        return (libraries / "driver", libraries / "common", libraries)

    @property
    def tools(self) -> Path:
        """Where the driver's own npu-smi is."""
        return self.driver / "tools"

    def innerversion(self) -> str:
        """The build that this CANN says it is. Raises UnusableError when it does not say."""
        file = read_version_file(self.install_info, parse_toolkit_install_info)
        if file is None:
            raise UnusableError(f"{self.install_info}: not there, so this CANN can't be told from another")
        if file.value is None or file.value.innerversion is None:
            raise UnusableError(file.problem or f"{self.install_info}: no innerversion")
        return file.value.innerversion
