"""Faults in a planted CANN: the healthy tree has no finding, each fault has its own, with what mends it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from planted_ascend import ARCH, B243, B250, PlantedAscend, atb_info, plant_cann8, plant_cann9

from npu_assay.cann.agreement import Expected
from npu_assay.diagnosis import Diagnosis, Level

LOCKED = Expected.of(
    {"cann": "9.0.0", "cann-ops": "9.0.0", "nnal": "9.0.0"},
    {"cann": B250, "cann-ops": B250, "nnal": "9.0.0.B160"},
)


def bad(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    return [diagnosis for diagnosis in diagnoses if diagnosis.level in (Level.PROBLEM, Level.WARNING)]


@pytest.fixture
def tree(tmp_path: Path) -> PlantedAscend:
    return plant_cann9(tmp_path)


@dataclass(frozen=True)
class Fault:
    """One change to the healthy tree of 9.0.0, or to the variables, and what has to be found."""

    change: Callable[[PlantedAscend], object]
    check: str
    says: str
    advice: str
    level: Level = Level.PROBLEM
    variables: dict[str, str] = field(default_factory=dict)
    alone: bool = True
    """Whether this is the only finding that it leads to."""


def second_build(tree: PlantedAscend) -> None:
    tree.plant_toolkit("9.0.0", B243, "cann-9.0.0-weekly")


def linked_to_second_build(tree: PlantedAscend) -> None:
    second_build(tree)
    tree.link("cann", "cann-9.0.0-weekly")


def older_atb(tree: PlantedAscend) -> None:
    tree.plant_atb("8.5.0.alpha001", "B100")
    tree.link("nnal/atb/latest", "8.5.0.alpha001")


def only_older_atb(tree: PlantedAscend) -> None:
    older_atb(tree)
    shutil.rmtree(tree.root / "nnal/atb/9.0.0")


def newer_atb(tree: PlantedAscend) -> None:
    tree.write("nnal/atb/9.0.0/version.info", atb_info("9.1.0", "B150"))


def script_that_is(text: str) -> Callable[[PlantedAscend], object]:
    return lambda tree: tree.write("cann-9.0.0/set_env.sh", text)


def driver_that_is(version: str) -> Callable[[PlantedAscend], object]:
    return lambda tree: tree.replace("driver/version.info", "25.5.1", version)


INFO = f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info"
OPS = f"cann-9.0.0/{ARCH}-linux/ascend_ops_install.info"

FAULTS = {
    "no CANN": Fault(
        lambda t: [shutil.rmtree(t.root / n) for n in ("cann-9.0.0", "ascend-toolkit")] + [t.remove("cann")],
        "cann",
        "no CANN: none in ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME, none below ",
        f"sudo ./Ascend-cann-toolkit_9.0.0_linux-{ARCH}.run --quiet --install --install-for-all",
        alone=False,
    ),
    "two builds of one version": Fault(
        second_build,
        "cann-builds",
        f"2 CANNs are installed, several of one version: 9.0.0 ({B250}) in ",
        "to use another, in a new shell: . ",
        Level.WARNING,
    ),
    "the link means another build than the variables": Fault(
        linked_to_second_build,
        "cann-selection",
        "ASCEND_HOME_PATH means 9.0.0 (V100R001C10SPC001B250)",
        "to use the linked one, in a new shell: . ",
        Level.WARNING,
        alone=False,
    ),
    "the linked build is another than expected, and that is used": Fault(
        linked_to_second_build,
        "cann-expected",
        f"toolkit: innerversion is {B243}, expected {B250}",
        "in a new shell: . {root}/cann-9.0.0/set_env.sh",
        variables={"ASCEND_HOME_PATH": "", "ASCEND_TOOLKIT_HOME": "", "LD_LIBRARY_PATH": ""},
        alone=False,
    ),
    "the variables mean two CANNs": Fault(
        second_build,
        "cann-selection",
        "ASCEND_TOOLKIT_HOME means 9.0.0 (V100R001C10SPC001B243)",
        "in a new shell: . {root}/cann-9.0.0/set_env.sh",
        variables={"ASCEND_TOOLKIT_HOME": "{root}/cann-9.0.0-weekly"},
        alone=False,
    ),
    "the libraries of another CANN come first": Fault(
        second_build,
        "cann-selection",
        "LD_LIBRARY_PATH takes libascendcl.so from ",
        "in a new shell: . {root}/cann-9.0.0/set_env.sh",
        variables={"LD_LIBRARY_PATH": "{root}/cann-9.0.0-weekly/lib64:{root}/driver/lib64/driver"},
        alone=False,
    ),
    "another build than expected": Fault(
        lambda t: [t.replace(INFO, B250, B243), t.replace(OPS, B250, B243)],
        "cann-expected",
        f"toolkit: innerversion is {B243}, expected {B250}",
        f"_linux-{ARCH}.run --quiet --install --install-for-all (the package of build {B250})",
        alone=False,
    ),
    "ATB of another build than expected": Fault(
        lambda t: t.replace("nnal/atb/9.0.0/version.info", "B160", "B150"),
        "cann-expected",
        "nnal: build is B150, expected B160",
        f"sudo ./Ascend-cann-nnal_9.0.0_linux-{ARCH}.run",
    ),
    "an older ATB behind latest": Fault(
        older_atb,
        "cann-nnal",
        "ATB is 8.5.0.alpha001, older than the toolkit, which is 9.0.0 (ATB_HOME_PATH: ",
        "sudo ln -sfn 9.0.0 {root}/nnal/atb/latest",
        alone=False,
    ),
    "an older ATB alone": Fault(
        only_older_atb,
        "cann-nnal",
        "ATB is 8.5.0.alpha001, older than the toolkit, which is 9.0.0",
        f"sudo ./Ascend-cann-nnal_9.0.0_linux-{ARCH}.run",
        alone=False,
    ),
    "a newer ATB": Fault(
        newer_atb,
        "cann-nnal",
        "ATB is 9.1.0, newer than the toolkit",
        "Ascend-cann-nnal_9.0.0",
        alone=False,
    ),
    "no NNAL": Fault(
        lambda t: shutil.rmtree(t.root / "nnal"),
        "cann-nnal",
        "no ATB beside toolkit 9.0.0",
        "Ascend-cann-nnal_9.0.0",
        variables={"ATB_HOME_PATH": ""},
    ),
    "NNAL without its script": Fault(
        lambda t: [t.remove(f"nnal/atb/{script}") for script in ("set_env.sh", "9.0.0/atb/set_env.sh")],
        "cann-scripts",
        "NNAL is half installed",
        "Ascend-cann-nnal_9.0.0",
    ),
    "latest leads nowhere": Fault(
        lambda t: t.link("nnal/atb/latest", "9.9.9"),
        "cann-links",
        "nnal/atb/latest leads nowhere",
        "sudo ln -sfn 9.0.0 {root}/nnal/atb/latest",
        variables={"ATB_HOME_PATH": ""},
    ),
    "the link cann leads nowhere": Fault(
        lambda t: t.link("cann", "cann-8.5.1"),
        "cann-links",
        "/cann leads nowhere",
        "sudo ln -sfn cann-9.0.0 {root}/cann",
        alone=False,
    ),
    "a variable leads nowhere": Fault(
        lambda t: None,
        "cann-links",
        "ASCEND_HOME_PATH is /gone/cann: no folder that this user can read",
        "unset ASCEND_HOME_PATH; . {root}/cann-9.0.0/set_env.sh",
        variables={"ASCEND_HOME_PATH": "/gone/cann"},
    ),
    "a variable means no CANN": Fault(
        lambda t: None,
        "cann",
        "ASCEND_HOME_PATH means {root}, without ascend_toolkit_install.info",
        "in a new shell: . {root}/cann-9.0.0/set_env.sh",
        variables={"ASCEND_HOME_PATH": "{root}"},
    ),
    "install info without innerversion": Fault(
        lambda t: t.replace(INFO, "innerversion=", "inner="),
        "cann-files",
        "ascend_toolkit_install.info: no innerversion; expected a line with it",
        "install the package anew that wrote {root}/cann-9.0.0",
    ),
    "a key twice": Fault(
        lambda t: t.replace(INFO, "version=9.0.0\n", "version=9.0.0\nversion=9.1.0\n"),
        "cann-files",
        "ascend_toolkit_install.info:3: version stands twice, first in line 2",
        "install the package anew",
    ),
    "half installed": Fault(
        lambda t: [t.remove("ascend-toolkit/set_env.sh"), t.remove("cann-9.0.0/set_env.sh")],
        "cann-scripts",
        "has no set_env.sh: it is half installed",
        f"sudo ./Ascend-cann-toolkit_9.0.0_linux-{ARCH}.run",
    ),
    "a script that ends the shell": Fault(
        script_that_is("echo no driver >&2; exit 3\n"),
        "cann-scripts",
        "sourcing ended with 3: no driver",
        "look at: bash -c '. ",
        Level.WARNING,
    ),
    "a script that does not end": Fault(
        script_that_is("while :; do :; done\n"),
        "cann-scripts",
        "sourcing did not end within",
        "look at: bash -c '. ",
        Level.WARNING,
    ),
    "another architecture": Fault(
        lambda t: [t.replace(INFO, ARCH, "x86_64"), t.replace(OPS, ARCH, "x86_64")],
        "cann-architecture",
        f"is for x86_64, this machine is {ARCH}",
        f"Ascend-cann-toolkit_9.0.0_linux-{ARCH}.run",
    ),
    "no ops": Fault(
        lambda t: t.remove(OPS),
        "cann-ops",
        "no ops package beside toolkit 9.0.0",
        f"sudo ./Ascend-cann-<chip>-ops_9.0.0_linux-{ARCH}.run",
    ),
    "ops of another version": Fault(
        lambda t: t.replace(OPS, "version=9.0.0", "version=8.5.1"),
        "cann-ops",
        "ops package is 8.5.1, the toolkit is 9.0.0",
        "sudo ./Ascend-cann-910b-ops_9.0.0",
        alone=False,
    ),
    "ops of another build": Fault(
        lambda t: t.replace(OPS, B250, B243),
        "cann-ops",
        f"ops package is build {B243}, the toolkit {B250}",
        "sudo ./Ascend-cann-910b-ops_9.0.0",
        alone=False,
    ),
    "a package of another version": Fault(
        lambda t: t.replace(
            "cann-9.0.0/version.cfg",
            "hccl_running_version=[7.9.0.1.220:9.0.0]",
            "hccl_running_version=[7.8.0.1.220:8.5.0]",
        ),
        "cann-version-cfg",
        "version.cfg runs 8.5.0 of hccl, the toolkit is 9.0.0",
        "Ascend-cann-toolkit_9.0.0",
        Level.WARNING,
    ),
    "a moved tree": Fault(
        lambda t: t.replace(INFO, f"path={t.root}", "path=/opt"),
        "cann-path",
        "says it was installed in /opt/cann-9.0.0",
        "if tools miss files of it: ",
        Level.WARNING,
    ),
    "the wrong C++ ABI": Fault(
        lambda t: None,
        "atb-cxx-abi",
        "but the installed torch has C++ ABI 1: was set_env.sh sourced before torch was installed?",
        "in a new shell: . {root}/nnal/atb/set_env.sh --cxx_abi=1",
        variables={"ATB_HOME_PATH": "{root}/nnal/atb/latest/atb/cxx_abi_0"},
    ),
    "no libraries for torch's C++ ABI": Fault(
        lambda t: shutil.rmtree(t.root / "nnal/atb/9.0.0/atb/cxx_abi_1"),
        "atb-cxx-abi",
        "nnal/atb/9.0.0/atb has no cxx_abi_1, which the installed torch needs",
        "Ascend-cann-nnal_9.0.0",
        alone=False,
    ),
    "no hal library": Fault(
        lambda t: t.remove("driver/lib64/driver/libascend_hal.so"),
        "ascend-hal",
        "no libascend_hal.so below {root}/driver: CANN finds no device without it",
        "in a container: start it with -v {root}/driver:{root}/driver:ro -v ",
    ),
    "the stub of the hal library": Fault(
        lambda t: None,
        "ascend-hal",
        f"{{root}}/cann/{ARCH}-linux/devlib/libascend_hal.so would be loaded: a stub",
        'export LD_LIBRARY_PATH="{root}/driver/lib64/driver:{root}/driver/lib64/common:$LD_LIBRARY_PATH"',
        variables={"LD_LIBRARY_PATH": f"{{root}}/cann/{ARCH}-linux/devlib:{{root}}/driver/lib64/driver"},
    ),
    "no driver, and the stub in its place": Fault(
        lambda t: t.remove("driver/lib64/driver/libascend_hal.so"),
        "ascend-hal",
        "devlib/libascend_hal.so would be loaded: a stub",
        "in a container: start it with -v {root}/driver",
        variables={"LD_LIBRARY_PATH": f"{{root}}/cann/{ARCH}-linux/devlib"},
    ),
    "a hal library of nobody": Fault(
        lambda t: t.write("elsewhere/libascend_hal.so", ""),
        "ascend-hal",
        "{root}/elsewhere/libascend_hal.so would be loaded, which is not below {root}/driver",
        "export LD_LIBRARY_PATH=",
        Level.WARNING,
        variables={"LD_LIBRARY_PATH": "{root}/elsewhere"},
    ),
    "a driver that is too old": Fault(
        driver_that_is("24.1.rc3"),
        "cann-driver",
        "driver 24.1.rc3 is too old for CANN 9.0.0, which works with 25.0, 25.2, 25.3, 25.5, ",
        f"on the host: sudo ./Ascend-hdk-<chip>-npu-driver_26.1.<patch>_linux-{ARCH}.run --upgrade",
    ),
    "a driver that nobody has listed": Fault(
        driver_that_is("27.0.0"),
        "cann-driver",
        "driver 27.0.0 is not listed for CANN 9.0.0",
        "on the host: sudo ./Ascend-hdk-",
        Level.WARNING,
    ),
    "a driver that can't be read": Fault(
        driver_that_is("latest"),
        "cann-files",
        "driver/version.info:1: Version: 'latest' is no version",
        "install the package anew that wrote {root}/driver/version.info",
        alone=False,
    ),
    "no driver's version": Fault(
        lambda t: t.remove("driver/version.info"),
        "cann-driver",
        "the driver's version can't be read ({root}/driver)",
        "in a container: start it with -v {root}/driver",
    ),
    "a driver that is not wholly installed": Fault(
        lambda t: t.replace(str(t.places.host_info), "Driver_Install_Status=complete\n", ""),
        "driver-status",
        "Driver_Install_Status is missing, expected complete",
        "on the host: install the driver anew",
        Level.WARNING,
    ),
    "firmware out of the driver's range": Fault(
        lambda t: t.replace("firmware/version.info", "7.8.0.6.201", "6.4.12.1.241"),
        "cann-firmware",
        "firmware is 6.4.12.1.241, driver 25.5.1 works with 7.0.0 to 7.9.99",
        "on the host: ",
        Level.WARNING,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_what_mends_it(tree: PlantedAscend, name: str) -> None:
    assert bad(tree.diagnoses(expected=LOCKED)) == []
    fault = FAULTS[name]
    fault.change(tree)
    changed = {key: value.format(root=tree.root) for key, value in fault.variables.items()}
    found = bad(tree.diagnoses(tree.variables(**changed), LOCKED))
    says, advice = (text.replace("{root}", str(tree.root)) for text in (fault.says, fault.advice))
    fitting = [
        diagnosis
        for diagnosis in found
        if (diagnosis.check, diagnosis.level) == (fault.check, fault.level) and says in diagnosis.message
    ]
    assert len(fitting) == 1, found
    assert advice in (fitting[0].advice or "")
    assert not fault.alone or found == fitting


def test_every_finding_is_reported_not_the_first(tree: PlantedAscend) -> None:
    assert bad(tree.diagnoses(expected=LOCKED)) == []
    older_atb(tree)
    second_build(tree)
    tree.remove("driver/lib64/driver/libascend_hal.so")
    driver_that_is("24.1.rc3")(tree)
    tree.replace(OPS, B250, B243)
    checks = {diagnosis.check for diagnosis in bad(tree.diagnoses(expected=LOCKED))}
    assert checks == {"cann-nnal", "cann-builds", "ascend-hal", "cann-driver", "cann-ops", "cann-expected"}


def test_keys_in_another_order_change_nothing(tree: PlantedAscend) -> None:
    before = tree.diagnoses(expected=LOCKED)
    for name in (INFO, OPS, "driver/version.info", "nnal/atb/9.0.0/version.info"):
        lines = (tree.root / name).read_text().splitlines()
        tree.write(name, "\n".join(reversed(lines)) + "\n")
    assert tree.diagnoses(expected=LOCKED) == before


def test_a_script_that_reads_unset_variables_is_a_note(tree: PlantedAscend) -> None:
    def notes() -> list[str]:
        return [d.message for d in tree.diagnoses() if d.check == "cann-scripts" and d.level is Level.NOTE]

    assert notes() == []
    script = script_that_is("export A=$NEVER_SET\n")(tree)
    assert notes() == [f"{script}:1 reads NEVER_SET, which is not set: it can't be sourced under `set -u`"]
    assert bad(tree.diagnoses(expected=LOCKED)) == []


def test_what_is_good_is_told(tree: PlantedAscend) -> None:
    good = {diagnosis.check: diagnosis.message for diagnosis in tree.diagnoses(expected=LOCKED)}
    assert good["cann"] == (
        f"CANN 9.0.0 ({B250}) in {tree.root}/cann-9.0.0, "
        "by ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME, cann, ascend-toolkit/latest, cann-9.0.0"
    )
    assert good["cann-identity"] == (
        f"one identity: toolkit 9.0.0 ({B250}), ops 9.0.0 ({B250}), ATB 9.0.0 (B160), driver 25.5.1"
    )
    assert good["atb-cxx-abi"] == "ATB has libraries for torch's C++ ABI, 1"
    assert "ascend-hal" in good


def test_a_shell_without_cann_is_told_what_to_source(tree: PlantedAscend) -> None:
    found = tree.diagnoses(variables={}, expected=LOCKED)
    assert bad(found) == []
    notes = {diagnosis.check: diagnosis for diagnosis in found if diagnosis.level is Level.NOTE}
    assert notes["cann-selection"].advice == f". {tree.root}/cann-9.0.0/set_env.sh"
    assert "driver/lib64/driver" in (notes["ascend-hal"].advice or "")


def test_the_emulated_cann_needs_no_ops(tree: PlantedAscend) -> None:
    tree.remove(OPS)
    assert [d.check for d in bad(tree.diagnoses())] == ["cann-ops"]
    tree.replace(INFO, B250, "EMULATED")
    tree.replace("nnal/atb/9.0.0/version.info", "B160", "EMULATED")
    tree.replace("driver/version.info", "Innerversion=V100R001C23SPC006B220", "Innerversion=EMULATED")
    emulated = Expected(version="9.0.0", build="EMULATED", atb_version="9.0.0", atb_build="EMULATED")
    assert bad(tree.diagnoses(expected=emulated)) == []
    tree.replace("driver/version.info", "Innerversion=EMULATED", "Innerversion=V100R001C23SPC006B220")
    assert [d.message.partition(" (")[0] for d in bad(tree.diagnoses(expected=emulated))] == [
        "the driver is for hardware, the toolkit emulated"
    ]


def test_the_old_layout_is_healthy_too(tmp_path: Path) -> None:
    tree = plant_cann8(tmp_path)
    variables = {"ASCEND_HOME_PATH": str(tree.root / "ascend-toolkit/latest")}
    assert bad(tree.diagnoses(variables)) == []
    kernels = "ascend-toolkit/8.3.RC2/opp_kernel/version.info"
    tree.replace(kernels, "version_dir=8.3.RC2", "version_dir=8.2.RC1")
    assert [d.message.partition(" (")[0] for d in bad(tree.diagnoses(variables))] == [
        "kernels are of 8.2.RC1, the toolkit is 8.3.RC2"
    ]


def test_without_a_row_in_the_table_the_toolkit_itself_is_asked(tmp_path: Path) -> None:
    tree = plant_cann8(tmp_path)
    assert bad(tree.diagnoses({})) == []
    tree.replace("driver/version.info", "V100R001C23SPC006B220", "V100R001C19SPC001B124")
    (found,) = bad(tree.diagnoses({}))
    assert found.message.startswith("driver 25.2.0 is V100R001C19, CANN 8.3.RC2 names V100R001C21, ")
    assert found.level is Level.WARNING


def test_the_machine_decides_which_architecture_counts(tree: PlantedAscend) -> None:
    places = replace(tree.places, machine="x86_64")
    arch = tree.root / "cann-9.0.0"
    shutil.copytree(arch / f"{ARCH}-linux", arch / "x86_64-linux")
    for name in ("toolkit", "ops"):
        tree.replace(f"cann-9.0.0/x86_64-linux/ascend_{name}_install.info", ARCH, "x86_64")
    assert bad(tree.diagnoses()) == []
    tree.places = places
    assert bad(tree.diagnoses()) == []
