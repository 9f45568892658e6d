"""`/etc/ascend_install.info`: where the driver's installer put driver and firmware on this host.

CANN's set_env.sh reads it to find the driver, with keys in any case; without `Driver_Install_Status=complete`
npu-smi warns that the driver is not wholly installed.
"""

from dataclasses import dataclass

from npu_assay.cann.files.keyed import read_keyed


@dataclass(frozen=True)
class HostInfo:
    """What the driver's installer recorded; None for what it did not."""

    driver_path: str | None
    """The folder that holds driver/."""
    firmware_path: str | None
    driver_status: str | None
    """`complete`, once the installation has ended."""


def parse_host_info(text: str, source: str) -> HostInfo:
    """Read an /etc/ascend_install.info. Raises MalformedFileError."""
    keyed = read_keyed(text, source, any_case=True)
    return HostInfo(
        driver_path=keyed.optional("Driver_Install_Path_Param"),
        firmware_path=keyed.optional("Firmware_Install_Path_Param"),
        driver_status=keyed.optional("Driver_Install_Status"),
    )
