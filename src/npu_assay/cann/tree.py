"""A CANN on disk, laid out as `/usr/local/Ascend`, and the build that it says it is."""

import platform
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.files.install_info import parse_toolkit_install_info
from npu_assay.cann.files.reading import read_version_file
from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class CannTree:
    """The folder that holds `cann/`, `nnal/` and `driver/`."""

    root: Path

    @property
    def cann_script(self) -> Path:
        """The script that sets what CANN's libraries and tools need."""
        return self.root / "cann" / "set_env.sh"

    @property
    def atb_script(self) -> Path:
        """The script that sets what NNAL's ATB needs; sourced after CANN's."""
        return self.root / "nnal" / "atb" / "set_env.sh"

    @property
    def driver_folders(self) -> tuple[Path, ...]:
        """Folders of the driver's libraries; no environment script names them."""
        return (self.root / "driver" / "lib64" / "driver", self.root / "driver" / "lib64" / "common")

    @property
    def tools(self) -> Path:
        """Where npu-smi is."""
        return self.root / "driver" / "tools"

    @property
    def install_info(self) -> Path:
        """CANN's own record of its version, `key=value` a line."""
        return self.root / "cann" / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"

    def innerversion(self) -> str:
        """The build that this CANN says it is. Raises UnusableError when it does not say."""
        file = read_version_file(self.install_info, parse_toolkit_install_info)
        if file is None:
            raise UnusableError(f"{self.install_info}: not there, so this CANN can't be told from another")
        if file.value is None or file.value.innerversion is None:
            raise UnusableError(file.problem or f"{self.install_info}: no innerversion")
        return file.value.innerversion
