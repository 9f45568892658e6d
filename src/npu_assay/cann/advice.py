"""What mends a CANN: one command each, in the vendor's names of packages and options.

The names of run packages and their options are those of cann-container-image's Dockerfiles for 9.0.0, where
the order is toolkit, ops, set_env.sh, NNAL. The driver's package is named as in the vendor's installation
guide.
"""

from pathlib import Path

from npu_assay.cann.discovery import Places
from npu_assay.cann.installed import Atb, Installed, Toolkit
from npu_assay.cann.versions import is_build, is_version

_OPTIONS = "--quiet --install --install-for-all"


def install_toolkit(version: str | None, machine: str) -> str:
    """The toolkit's run package."""
    return f"sudo ./Ascend-cann-toolkit_{version or '<version>'}_linux-{machine}.run {_OPTIONS}"


def install_ops(version: str, machine: str, chip: str | None) -> str:
    """The ops package: its name has the chip (310p, 910b, A3, 950)."""
    return f"sudo ./Ascend-cann-{chip or '<chip>'}-ops_{version}_linux-{machine}.run {_OPTIONS}"


def install_nnal(version: str, machine: str) -> str:
    """NNAL's run package; its installer wants CANN's variables."""
    return f"sudo ./Ascend-cann-nnal_{version}_linux-{machine}.run {_OPTIONS}"


def install_driver(series: str, machine: str) -> str:
    """The driver, which belongs to the host: containers only see it."""
    package = f"Ascend-hdk-<chip>-npu-driver_{series}.<patch>_linux-{machine}.run"
    return f"on the host: sudo ./{package} --upgrade --quiet, then reboot"


def mount_driver(places: Places, folder: Path) -> str:
    """For a container that was started without the driver's folder; on a host the driver is not installed."""
    return (
        f"in a container: start it with -v {folder}:{folder}:ro -v {places.host_info}:{places.host_info}:ro; "
        "on the host: install the driver"
    )


def driver_first(driver: Path) -> str:
    """Let the dynamic linker find the driver's libraries before others."""
    return f'export LD_LIBRARY_PATH="{driver}/lib64/driver:{driver}/lib64/common:$LD_LIBRARY_PATH"'


def source_script(toolkit: Toolkit) -> str:
    """Choose this CANN in the present shell."""
    return f". {toolkit.script or toolkit.root / 'set_env.sh'}"


def link(target: str, name: Path) -> str:
    """Make a link anew, without following the present one."""
    return f"sudo ln -sfn {target} {name}"


def toolkit_that_fits(installed: Installed, version: str | None, build: str | None) -> Toolkit | None:
    """An installed CANN other than the used one that is of this version and build."""
    for toolkit in installed.toolkits[1:]:
        value = toolkit.value
        if value is None or (version is not None and not is_version(value.version, version)):
            continue
        if build is None or is_build(value.innerversion, build):
            return toolkit
    return None


def atb_of(installed: Installed, version: str) -> Atb | None:
    """An installed ATB of this version."""
    return next((atb for atb in installed.atbs if atb.value and is_version(atb.value.version, version)), None)
