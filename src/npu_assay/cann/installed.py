"""What of CANN is installed: toolkits, NNAL, driver and firmware, each with the names it was found by."""

from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.files.atb_info import AtbInfo
from npu_assay.cann.files.driver_info import DriverInfo, FirmwareInfo
from npu_assay.cann.files.host_info import HostInfo
from npu_assay.cann.files.install_info import InstallInfo
from npu_assay.cann.files.package_info import PackageInfo
from npu_assay.cann.files.reading import VersionFile
from npu_assay.cann.files.version_cfg import VersionCfg
from npu_assay.cann.paths import real_path


@dataclass(frozen=True)
class Found:
    """A folder that was found by some names."""

    root: Path
    """Without links."""
    names: tuple[str, ...]
    """Variables, and links and folders below the root that was searched; the one that decides first."""


@dataclass(frozen=True)
class Toolkit(Found):
    """One CANN; its root is what set_env.sh makes ASCEND_HOME_PATH."""

    info: VersionFile[InstallInfo] | None
    """None where a name leads to a folder without an ascend_toolkit_install.info."""
    ops: VersionFile[InstallInfo] | None
    """The ops package's, from 8.5.0 on."""
    kernels: VersionFile[PackageInfo] | None
    """The kernels package's of before 8.5.0."""
    version_cfg: VersionFile[VersionCfg] | None
    script: Path | None
    """Its set_env.sh, or None where there is none."""

    @property
    def value(self) -> InstallInfo | None:
        """What its install info says, where it can be read."""
        return self.info.value if self.info else None

    @property
    def devlib(self) -> tuple[Path, ...]:
        """Folders of stubs to link against on machines without a driver; nothing may be loaded from them."""
        folders = (*self.root.glob("*-linux/devlib"), self.root / "devlib")
        return tuple(sorted({real_path(folder) for folder in folders}))

    def __str__(self) -> str:
        return f"{self.value or 'CANN of an unknown version'} in {self.root}"


@dataclass(frozen=True)
class Atb(Found):
    """One version of NNAL's ATB: a folder nnal/atb/<version>."""

    info: VersionFile[AtbInfo] | None
    abis: tuple[int, ...]
    """The C++ ABIs it was built for: 1 where atb/cxx_abi_1 is there."""
    script: Path | None
    """Its own set_env.sh, which means this version; the one beside the versions means `latest`."""

    @property
    def value(self) -> AtbInfo | None:
        """What its version.info says, where it can be read."""
        return self.info.value if self.info else None

    def __str__(self) -> str:
        return f"ATB {self.value or 'of an unknown version'} in {self.root}"


@dataclass(frozen=True)
class Driver:
    """The driver's folder and, beside it, the firmware's."""

    root: Path
    info: VersionFile[DriverInfo] | None
    firmware: VersionFile[FirmwareInfo] | None
    hal: Path | None
    """libascend_hal.so, the library through which CANN reaches the driver."""

    @property
    def value(self) -> DriverInfo | None:
        """What its version.info says, where it can be read."""
        return self.info.value if self.info else None


@dataclass(frozen=True)
class Dangling:
    """A name that leads to no folder which this user can read: a link, or a variable."""

    name: str
    target: Path


@dataclass(frozen=True)
class Installed:
    """Everything that was found."""

    toolkits: tuple[Toolkit, ...]
    """The one that is used first."""
    atbs: tuple[Atb, ...]
    """The one that is used first."""
    atb_script: Path | None
    """The script that sets ATB_HOME_PATH: nnal/atb/set_env.sh."""
    driver: Driver
    host: VersionFile[HostInfo] | None
    dangling: tuple[Dangling, ...]

    @property
    def toolkit(self) -> Toolkit | None:
        """The CANN that a process with these variables uses, else that of the `cann` link."""
        return self.toolkits[0] if self.toolkits else None

    @property
    def atb(self) -> Atb | None:
        """The ATB that a process with these variables uses, else that of `latest`."""
        return self.atbs[0] if self.atbs else None
