"""Whether the version files can be read, are of one CANN, and of the expected one."""

from collections.abc import Iterator
from pathlib import Path

from npu_assay.cann import advice
from npu_assay.cann.agreement import Disagreement, Identity, Part, departures, disagreements
from npu_assay.cann.checks.look import Look
from npu_assay.cann.driver_table import row_of
from npu_assay.cann.files.install_info import InstallInfo
from npu_assay.cann.installed import Installed, Toolkit
from npu_assay.cann.paths import real_path
from npu_assay.cann.versions import ReleaseVersion
from npu_assay.diagnosis import Diagnosis, Level


def identity_of(installed: Installed, toolkit: Toolkit, info: InstallInfo) -> Identity:
    """What the version files of the parts that are used say together."""
    driver = installed.driver
    return Identity(
        toolkit=info,
        ops=toolkit.ops.value if toolkit.ops else None,
        kernels=toolkit.kernels.value if toolkit.kernels else None,
        version_cfg=toolkit.version_cfg.value if toolkit.version_cfg else None,
        atb=installed.atb.value if installed.atb else None,
        driver=driver.value,
        firmware=driver.firmware.value if driver.firmware else None,
    )


def check_files(look: Look) -> Iterator[Diagnosis]:
    """Version files that don't say what they should. Those of parts that are not used matter less."""
    for level, path, problem in _problems(look.installed):
        advised = f"install the package anew that wrote {path}"
        yield Diagnosis("cann-files", level, problem, advised)


def _problems(installed: Installed) -> Iterator[tuple[Level, Path, str]]:
    driver = installed.driver
    for toolkit in installed.toolkits:
        level = Level.PROBLEM if toolkit is installed.toolkit else Level.WARNING
        for file in (toolkit.info, toolkit.ops, toolkit.kernels):
            if file and file.problem:
                yield level, file.path, file.problem
        if toolkit.version_cfg and toolkit.version_cfg.problem:
            yield Level.WARNING, toolkit.version_cfg.path, toolkit.version_cfg.problem
    for atb in installed.atbs:
        if atb.info and atb.info.problem:
            yield Level.PROBLEM if atb is installed.atb else Level.WARNING, atb.info.path, atb.info.problem
    if driver.info and driver.info.problem:
        yield Level.PROBLEM, driver.info.path, driver.info.problem
    for lesser in (driver.firmware, installed.host):
        if lesser and lesser.problem:
            yield Level.WARNING, lesser.path, lesser.problem


def check_place(look: Look, toolkit: Toolkit, info: InstallInfo) -> Iterator[Diagnosis]:
    """Whether the toolkit is for this machine, and where it was installed."""
    machine = look.places.machine
    if info.arch is not None and info.arch != machine:
        yield Diagnosis(
            "cann-architecture",
            Level.PROBLEM,
            f"{toolkit} is for {info.arch}, this machine is {machine}",
            look.install_toolkit(info.version),
        )
    if info.path is None or info.emulated:  # the emulated one finds itself wherever it is
        return
    recorded = Path(info.path)
    recorded = recorded.parent if recorded.name.endswith("-linux") else recorded
    if real_path(recorded) != toolkit.root:
        yield Diagnosis(
            "cann-path",
            Level.WARNING,
            f"{toolkit} says it was installed in {info.path}: it was moved, copied or mounted elsewhere",
            f"if tools miss files of it: {look.install_toolkit(info.version)}",
        )


def check_identity(look: Look, toolkit: Toolkit, info: InstallInfo) -> Iterator[Diagnosis]:
    """Whether toolkit, ops, ATB and driver are of one CANN, and of the expected one."""
    identity = identity_of(look.installed, toolkit, info)
    unexpected, apart = departures(identity, look.expected), disagreements(identity)
    for departure in unexpected:
        message = _with_place(look, toolkit, departure)
        yield Diagnosis("cann-expected", Level.PROBLEM, message, _mend_departure(look, toolkit, departure))
    for disagreement in apart:
        yield Diagnosis(
            f"cann-{disagreement.part.replace('.', '-')}",
            Level.PROBLEM if disagreement.certain else Level.WARNING,
            _with_place(look, toolkit, disagreement),
            _mend_disagreement(look, toolkit, info, disagreement),
        )
    if not unexpected and not apart:
        ops = f"ops {identity.ops}, " if identity.ops else ""
        driver = identity.driver.version if identity.driver else ""
        yield Diagnosis(
            "cann-identity",
            Level.GOOD,
            f"one identity: toolkit {info}, {ops}ATB {identity.atb}, driver {driver}",
        )


def _with_place(look: Look, toolkit: Toolkit, disagreement: Disagreement) -> str:
    """The disagreement, and where the part is."""
    atb = look.installed.atb
    match disagreement.part:
        case Part.NNAL if atb is not None:
            return f"{disagreement.message} ({atb.names[0]}: {atb.root})"
        case Part.NNAL:
            return f"{disagreement.message} ({look.places.root / 'nnal'})"
        case Part.DRIVER | Part.FIRMWARE:
            return f"{disagreement.message} ({look.installed.driver.root})"
        case _:
            return f"{disagreement.message} ({toolkit.root})"


def _mend_disagreement(look: Look, toolkit: Toolkit, info: InstallInfo, disagreement: Disagreement) -> str:
    machine = look.places.machine
    match disagreement.part:
        case Part.OPS:
            return look.install_ops(info.version, _chip(toolkit))
        case Part.NNAL:
            return _mend_atb(look, info.version)
        case Part.DRIVER if look.installed.driver.info is None:
            return advice.mount_driver(look.places, look.installed.driver.root)
        case Part.DRIVER | Part.FIRMWARE:
            row = row_of(ReleaseVersion.parse(info.version))
            released = [series for series in row.drivers if "rc" not in series.text.lower()] if row else []
            return advice.install_driver(str(released[-1]) if released else "<version>", machine)
        case _:
            return look.install_toolkit(info.version)


def _mend_departure(look: Look, toolkit: Toolkit, departure: Disagreement) -> str:
    expected = look.expected
    if departure.part is Part.NNAL:
        return _mend_atb(look, expected.atb_version or "<version>")
    if departure.part is Part.OPS:
        return look.install_ops(expected.ops_version or "<version>", _chip(toolkit))
    fitting = advice.toolkit_that_fits(look.installed, expected.version, expected.build)
    if fitting is not None:
        return f"in a new shell: {advice.source_script(fitting)}"
    build = f" (the package of build {expected.build})" if expected.build else ""
    return look.install_toolkit(expected.version) + build


def _chip(toolkit: Toolkit) -> str | None:
    """The chip of the ops package that is there."""
    return toolkit.ops.value.chip if toolkit.ops and toolkit.ops.value else None


def _mend_atb(look: Look, version: str) -> str:
    """The link or the variable, where an ATB of this version is installed."""
    fitting = advice.atb_of(look.installed, version)
    if fitting is None or fitting is look.installed.atb:  # the latter is of another build
        return look.install_nnal(version)
    latest = look.places.root / "nnal" / "atb" / "latest"
    if real_path(latest) == fitting.root:  # then it is the variable that means another
        return f"in a new shell: . {look.atb_script}"
    return advice.link(fitting.root.name, latest)
