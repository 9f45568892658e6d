"""What a process would get: environment scripts, ATB's C++ ABI, and the driver's library."""

from collections.abc import Iterator

from npu_assay.cann import advice
from npu_assay.cann.checks.look import Look
from npu_assay.cann.cxx_abi import atb_cxx_abi, torch_cxx_abi
from npu_assay.cann.discovery import ATB_VARIABLE, HAL
from npu_assay.cann.files.install_info import InstallInfo
from npu_assay.cann.hal import HalKind, chosen_hal
from npu_assay.cann.installed import Toolkit
from npu_assay.cann.scripts import source
from npu_assay.cann.unfinished import how_to_remove, unfinished
from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.errors import UnusableError

#: A script that only sets variables takes a few hundredths; one that imports torch on its way is not waited
#: for.
_SCRIPT_SECONDS = 0.7
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def check_scripts(look: Look, toolkit: Toolkit, info: InstallInfo) -> Iterator[Diagnosis]:
    """Whether the environment scripts are there and can be sourced, also under `set -u`."""
    if toolkit.script is None:
        yield Diagnosis(
            "cann-scripts",
            Level.PROBLEM,
            f"{toolkit} has no set_env.sh: it is half installed",
            look.install_toolkit(info.version),
        )
    if look.installed.atb is not None and look.installed.atb_script is None:
        yield Diagnosis(
            "cann-scripts",
            Level.PROBLEM,
            f"{look.atb_script} is missing beside {look.installed.atb}: NNAL is half installed",
            look.install_nnal(info.version),
        )
    for script in (toolkit.script, look.installed.atb_script):
        if script is None:
            continue
        try:
            unset = source([script], {"PATH": _SYSTEM_PATH}, _SCRIPT_SECONDS).unset
        except UnusableError as error:
            yield Diagnosis("cann-scripts", Level.WARNING, str(error), f"look at: bash -c '. {script}'")
            continue
        for read in unset:
            yield Diagnosis(
                "cann-scripts",
                Level.NOTE,
                f"{read}: it can't be sourced under `set -u`",
                f"in scripts of your own: set +u; . {script}; set -u",
            )


def check_unfinished(look: Look, toolkit: Toolkit) -> Iterator[Diagnosis]:
    """What `npu-assay cann install` has begun and not ended: it may look whole."""
    for part in (toolkit, look.installed.atb):
        if part is not None and (mark := unfinished(look.places.root, part.root)):
            yield Diagnosis(
                "cann-unfinished",
                Level.PROBLEM,
                f"{part.root}: its installation did not end, as {mark} says",
                f"{how_to_remove(part.root, mark)}; then {look.install_toolkit(look.expected.version)}",
            )


def check_abi(look: Look, info: InstallInfo) -> Iterator[Diagnosis]:
    """Whether ATB's libraries are those for torch's C++ ABI."""
    atb = look.installed.atb
    wanted = torch_cxx_abi(look.site_packages) if look.site_packages else None
    if atb is None or wanted is None:
        return
    value = look.variables.get(ATB_VARIABLE)
    if wanted not in atb.abis:
        yield Diagnosis(
            "atb-cxx-abi",
            Level.PROBLEM,
            f"{atb.root / 'atb'} has no cxx_abi_{wanted}, which the installed torch needs",
            look.install_nnal(info.version),
        )
    elif value and atb_cxx_abi(value) != wanted:
        yield Diagnosis(
            "atb-cxx-abi",
            Level.PROBLEM,
            f"{ATB_VARIABLE} is {value}, but the installed torch has C++ ABI {wanted}: "
            "was set_env.sh sourced before torch was installed?",
            f"in a new shell: . {look.atb_script} --cxx_abi={wanted}",
        )
    else:
        yield Diagnosis("atb-cxx-abi", Level.GOOD, f"ATB has libraries for torch's C++ ABI, {wanted}")


def check_hal(look: Look) -> Iterator[Diagnosis]:
    """Which libascend_hal.so a process would load."""
    driver = look.installed.driver
    hal = chosen_hal(look.installed, look.variables, look.places.system_libraries)
    mend = (
        advice.driver_first(driver.root)
        if driver.hal
        else advice.mount_driver(look.places, look.installed.driver.root)
    )
    level, message = {
        HalKind.DRIVER: (Level.GOOD, f"{HAL} is the driver's: {hal.path}"),
        HalKind.NOT_ON_PATH: (Level.NOTE, f"{hal.path} is not on LD_LIBRARY_PATH in this shell"),
        HalKind.OTHER: (Level.WARNING, f"{hal.path} would be loaded, which is not below {driver.root}"),
        HalKind.MISSING: (Level.PROBLEM, f"no {HAL} below {driver.root}: CANN finds no device without it"),
        HalKind.STUB: (Level.PROBLEM, f"{hal.path} would be loaded: a stub to link against"),
    }[hal.kind]
    yield Diagnosis("ascend-hal", level, message, None if level is Level.GOOD else mend)


def check_driver_status(look: Look) -> Iterator[Diagnosis]:
    """Whether the driver's installer says that it has ended."""
    host = look.installed.host
    if host and host.value and host.value.driver_path and host.value.driver_status != "complete":
        status = host.value.driver_status or "missing"
        yield Diagnosis(
            "driver-status",
            Level.WARNING,
            f"{host.path}: Driver_Install_Status is {status}, expected complete",
            "on the host: install the driver anew, and reboot",
        )
