"""`version.info` of the driver and of the firmware, below `/usr/local/Ascend`.

Seen: the driver's of 24.1.rc3, two keys of 25.7.rc1.6's, the firmware's of 7.1.0.11.220. The case of keys
differs from key to key (Version, Innerversion, package_version), so none counts.
"""

from dataclasses import dataclass

from npu_assay.cann.files.keyed import Keyed, read_keyed
from npu_assay.cann.versions import ReleaseVersion


@dataclass(frozen=True)
class VersionRange:
    """The versions from `low` to `high`, both included.

    A `high` that ends in a dot takes in whatever begins so (`[23.0.0,23.0.0.]`): this is inferred from the
    two files that were seen.
    """

    low: str
    high: str

    def holds(self, version: ReleaseVersion) -> bool:
        """Whether the version is in the range."""
        high = ReleaseVersion.parse(self.high.removesuffix("."))
        if version < ReleaseVersion.parse(self.low):
            return False
        return version <= high or (self.high.endswith(".") and version.is_of(high))

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


@dataclass(frozen=True)
class DriverInfo:
    """What the driver says of itself."""

    version: str
    """Of the HDK that it came with: 25.5.1."""
    innerversion: str | None
    package_version: str | None
    compatible_version: tuple[str, ...] | None
    """Innerversions of CANN without service pack and build."""
    compatible_firmware: VersionRange | None


@dataclass(frozen=True)
class FirmwareInfo:
    """What the firmware says of itself."""

    version: str
    package_version: str | None
    """Of the HDK that it came with."""
    compatible_drivers: tuple[VersionRange, ...] | None


def parse_driver_info(text: str, source: str) -> DriverInfo:
    """Read the driver's version.info. Raises MalformedFileError."""
    keyed = read_keyed(text, source, any_case=True)
    firmware = _ranges(keyed, "compatible_version_fw")
    if firmware is not None and len(firmware) != 1:
        keyed.refuse("compatible_version_fw", "compatible_version_fw: expected one range [low,high]")
    return DriverInfo(
        version=keyed.version("Version", keyed.required("Version")),
        innerversion=keyed.optional("Innerversion"),
        package_version=keyed.optional("package_version"),
        compatible_version=keyed.bracketed("compatible_version"),
        compatible_firmware=firmware[0] if firmware else None,
    )


def parse_firmware_info(text: str, source: str) -> FirmwareInfo:
    """Read the firmware's version.info. Raises MalformedFileError."""
    keyed = read_keyed(text, source, any_case=True)
    return FirmwareInfo(
        version=keyed.version("Version", keyed.required("Version")),
        package_version=keyed.optional("package_version"),
        compatible_drivers=_ranges(keyed, "compatible_version_drv"),
    )


def _ranges(keyed: Keyed, key: str) -> tuple[VersionRange, ...] | None:
    texts = keyed.bracketed(key)
    return None if texts is None else tuple(_range(keyed, key, text) for text in texts)


def _range(keyed: Keyed, key: str, text: str) -> VersionRange:
    low, comma, high = (part.strip() for part in text.partition(","))
    if not comma:
        keyed.refuse(key, f"{key}: expected [low,high], found [{text}]")
    keyed.version(key, low)
    keyed.version(key, high.removesuffix("."))
    return VersionRange(low, high)
