"""A CANN on disk, laid out as `/usr/local/Ascend`, and the build that it says it is."""

import platform
from dataclasses import dataclass
from pathlib import Path

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
        try:
            text = self.install_info.read_text()
        except OSError as error:
            raise UnusableError(
                f"{self.install_info}: can't read CANN's version: {error.strerror}"
            ) from error
        return innerversion(text, str(self.install_info))


def innerversion(text: str, where: str) -> str:
    """The value of `innerversion=` in an ascend_toolkit_install.info; UnusableError when there is none."""
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and key.strip() == "innerversion" and value.strip():
            return value.strip()
    raise UnusableError(f"{where}: no line innerversion=..., so this CANN can't be told from another")
