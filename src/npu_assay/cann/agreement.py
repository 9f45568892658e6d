"""One identity: whether toolkit, ops, NNAL, driver and firmware are of one CANN, and of the expected one.

Pure, so that doctor judges a machine by it and `verify` judges the version files that a run left in its
archive.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from npu_assay.cann.driver_table import Match, row_of
from npu_assay.cann.files.atb_info import AtbInfo
from npu_assay.cann.files.driver_info import DriverInfo, FirmwareInfo
from npu_assay.cann.files.install_info import InstallInfo
from npu_assay.cann.files.package_info import PackageInfo
from npu_assay.cann.files.version_cfg import VersionCfg
from npu_assay.cann.versions import EMULATED, ReleaseVersion, is_build, is_version, train_of


class Part(StrEnum):
    """What can disagree with the toolkit, or with what is expected."""

    TOOLKIT = "toolkit"
    OPS = "ops"
    NNAL = "nnal"
    DRIVER = "driver"
    FIRMWARE = "firmware"
    VERSION_CFG = "version.cfg"


@dataclass(frozen=True)
class Identity:
    """What the version files of one installation say; None for a file that is not there or can't be read."""

    toolkit: InstallInfo
    ops: InstallInfo | None = None
    kernels: PackageInfo | None = None
    """In place of ops, before 8.5.0."""
    version_cfg: VersionCfg | None = None
    atb: AtbInfo | None = None
    driver: DriverInfo | None = None
    firmware: FirmwareInfo | None = None


@dataclass(frozen=True)
class Expected:
    """What a lock asks for; None where it does not say.

    A build is a whole innerversion (V100R001C10SPC001B250), an ATB's with its version (9.0.0.B160), or its
    number alone (B250).
    """

    version: str | None = None
    build: str | None = None
    ops_version: str | None = None
    ops_build: str | None = None
    atb_version: str | None = None
    atb_build: str | None = None
    command: str | None = None
    """What a user types to install it, where there is such a command."""

    @classmethod
    def of(
        cls, versions: Mapping[str, str], builds: Mapping[str, str], command: str | None = None
    ) -> "Expected":
        """From the versions and builds of a lock's components, by their names in locks."""
        return cls(
            version=versions.get("cann"),
            build=builds.get("cann"),
            ops_version=versions.get("cann-ops"),
            ops_build=builds.get("cann-ops"),
            atb_version=versions.get("nnal"),
            atb_build=builds.get("nnal"),
            command=command,
        )


@dataclass(frozen=True)
class Disagreement:
    """One way in which the parts are not one."""

    part: Part
    message: str
    certain: bool = True
    """Whether this can't work; if not, nothing is known that says it does."""


def disagreements(identity: Identity) -> list[Disagreement]:
    """Every way in which the parts disagree with the toolkit, and the parts that are missing."""
    return [
        *_ops(identity),
        *_atb(identity.toolkit, identity.atb),
        *_driver(identity.toolkit, identity.driver),
        *_firmware(identity.driver, identity.firmware),
        *_version_cfg(identity.toolkit, identity.version_cfg),
    ]


def departures(identity: Identity, expected: Expected) -> list[Disagreement]:
    """Every way in which toolkit, ops and ATB are not the expected ones. A missing part is none."""
    toolkit, ops, atb = identity.toolkit, identity.ops, identity.atb
    compared = [
        (Part.TOOLKIT, "version", toolkit.version, expected.version, is_version),
        (Part.TOOLKIT, "innerversion", toolkit.innerversion, expected.build, is_build),
    ]
    if ops is not None:
        compared.append((Part.OPS, "version", ops.version, expected.ops_version, is_version))
    if ops is not None and ops.innerversion is not None:
        compared.append((Part.OPS, "innerversion", ops.innerversion, expected.ops_build, is_build))
    if atb is not None:
        wanted = expected.atb_build
        if wanted is not None:
            wanted = wanted.removeprefix(f"{atb.version}.")
        compared.append((Part.NNAL, "version", atb.version, expected.atb_version, is_version))
        compared.append((Part.NNAL, "build", atb.build, wanted, is_build))
    return [
        Disagreement(part, f"{part}: {what} is {found}, expected {wanted}")
        for part, what, found, wanted, agree in compared
        if wanted is not None and not (found is not None and agree(found, wanted))
    ]


def _ops(identity: Identity) -> Iterator[Disagreement]:
    toolkit, ops, kernels = identity.toolkit, identity.ops, identity.kernels
    if toolkit.emulated:  # its ops are in its libraries
        return
    if ops is None:
        if kernels is None:
            yield Disagreement(Part.OPS, f"no ops package beside toolkit {toolkit.version}")
        elif kernels.version_dir is not None and not _names_version(kernels.version_dir, toolkit.version):
            yield Disagreement(
                Part.OPS, f"kernels are of {kernels.version_dir}, the toolkit is {toolkit.version}"
            )
        return
    if not is_version(ops.version, toolkit.version):
        yield Disagreement(Part.OPS, f"ops package is {ops.version}, the toolkit is {toolkit.version}")
    elif ops.innerversion is not None and ops.innerversion != toolkit.innerversion:
        yield Disagreement(
            Part.OPS, f"ops package is build {ops.innerversion}, the toolkit {toolkit.innerversion}"
        )
    if ops.arch and toolkit.arch and ops.arch != toolkit.arch:
        yield Disagreement(Part.OPS, f"ops package is for {ops.arch}, the toolkit for {toolkit.arch}")


def _atb(toolkit: InstallInfo, atb: AtbInfo | None) -> Iterator[Disagreement]:
    if atb is None:
        yield Disagreement(Part.NNAL, f"no ATB beside toolkit {toolkit.version}")
        return
    if not is_version(atb.version, toolkit.version):
        older = ReleaseVersion.parse(atb.version) < ReleaseVersion.parse(toolkit.version)
        relation = "older" if older else "newer"
        yield Disagreement(
            Part.NNAL, f"ATB is {atb.version}, {relation} than the toolkit, which is {toolkit.version}"
        )
    if (atb.build == EMULATED) != toolkit.emulated:
        yield Disagreement(
            Part.NNAL, f"ATB is {_kind(atb.build == EMULATED)}, the toolkit {_kind(toolkit.emulated)}"
        )


def _driver(toolkit: InstallInfo, driver: DriverInfo | None) -> Iterator[Disagreement]:
    if driver is None:
        yield Disagreement(Part.DRIVER, "the driver's version can't be read")
        return
    emulated = driver.innerversion == EMULATED
    if emulated != toolkit.emulated:
        yield Disagreement(
            Part.DRIVER, f"the driver is {_kind(emulated)}, the toolkit {_kind(toolkit.emulated)}"
        )
    row = row_of(ReleaseVersion.parse(toolkit.version))
    match = row.match(ReleaseVersion.parse(driver.version)) if row else Match.NO_ROW
    whose = f"driver {driver.version}"
    if match is Match.TOO_OLD:
        yield Disagreement(
            Part.DRIVER, f"{whose} is too old for CANN {toolkit.version}, which works with {row}"
        )
    elif match is Match.UNLISTED:
        message = f"{whose} is not listed for CANN {toolkit.version}, which works with {row}"
        yield Disagreement(Part.DRIVER, message, certain=False)
    elif match is Match.NO_ROW:
        yield from _by_train(toolkit, driver)


def _by_train(toolkit: InstallInfo, driver: DriverInfo) -> Iterator[Disagreement]:
    """Where the table has no row, CANN's own list of compatible releases counts.

    That `compatible_version` names releases of the driver by the beginning of its innerversion is inferred:
    it agrees with the table for every pair of files that was seen.
    """
    train = train_of(driver.innerversion) if driver.innerversion else None
    if train is None or toolkit.compatible_version is None:
        message = f"nothing says whether driver {driver.version} works with CANN {toolkit.version}"
    elif train in (toolkit.train, *toolkit.compatible_version):
        return
    else:
        listed = ", ".join(toolkit.compatible_version)
        message = f"driver {driver.version} is {train}, CANN {toolkit.version} names {listed} as compatible"
    yield Disagreement(Part.DRIVER, message, certain=False)


def _firmware(driver: DriverInfo | None, firmware: FirmwareInfo | None) -> Iterator[Disagreement]:
    if driver is None or firmware is None:  # containers see the driver's files, seldom the firmware's
        return
    allowed = driver.compatible_firmware
    if allowed is not None and not allowed.holds(ReleaseVersion.parse(firmware.version)):
        message = f"firmware is {firmware.version}, driver {driver.version} works with {allowed}"
        yield Disagreement(Part.FIRMWARE, message, certain=False)


def _version_cfg(toolkit: InstallInfo, version_cfg: VersionCfg | None) -> Iterator[Disagreement]:
    if version_cfg is None:
        return
    for name, packages in version_cfg.running_names().items():
        if not _names_version(name, toolkit.version):
            message = f"version.cfg runs {name} of {', '.join(packages)}, the toolkit is {toolkit.version}"
            yield Disagreement(Part.VERSION_CFG, message, certain=False)


def _names_version(name: str, version: str) -> bool:
    """Whether a name for CANN (8.0.0, CANN-8.0.0, cann-9.0.0) means this version; `cann` alone means any."""
    stated = name.lower().removeprefix("cann").removeprefix("-")
    return not stated or is_version(stated, version)


def _kind(emulated: bool) -> str:
    return "emulated" if emulated else "for hardware"
