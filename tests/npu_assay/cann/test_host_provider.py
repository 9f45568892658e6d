"""The host's CANN: which of several is used, and every way in which it is not what the lock means."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from planted_ascend import ARCH, B243, B250, PlantedAscend, plant_cann8, plant_cann9

from npu_assay.cann.agreement import Expected
from npu_assay.cann.choice import usual_places
from npu_assay.cann.discovery import Places
from npu_assay.cann.host import HostProvider
from npu_assay.cann.provider import Target
from npu_assay.cann.variables import cann_variables
from npu_assay.errors import UnusableError

LOCKED = Expected.of(
    {"cann": "9.0.0", "cann-ops": "9.0.0", "nnal": "9.0.0"},
    {"cann": B250, "cann-ops": B250, "nnal": "9.0.0.B160"},
    "npu-assay cann install a-lock",
)
INSTALL = "-> npu-assay cann install a-lock --from DIR"


@pytest.fixture
def tree(tmp_path: Path) -> PlantedAscend:
    return plant_cann9(tmp_path)


def provider(*trees: PlantedAscend, variables: Mapping[str, str] | None = None) -> HostProvider:
    return HostProvider(variables=variables or {}, places=tuple(tree.places for tree in trees))


def target(tree: PlantedAscend, expected: Expected = LOCKED) -> Target:
    return Target(Path("python"), tree.site_packages, {}, expected)


def test_the_lock_s_cann_is_used_and_told(tree: PlantedAscend) -> None:
    told: list[str] = []
    found = provider(tree).provide(target(tree), told.append)
    assert told == [
        f"CANN 9.0.0 ({B250}) in {tree.root}/cann-9.0.0, the only one,"
        f" with ATB 9.0.0 (B160) in {tree.root}/nnal/atb/9.0.0"
    ]
    assert provider(tree).ready(target(tree))
    assert found.innerversion() == B250
    assert found.faults == ()
    assert found.driver == tree.root / "driver"


def test_a_process_gets_the_scripts_and_the_driver_and_no_other_cann(
    tree: PlantedAscend, tmp_path: Path
) -> None:
    other = plant_cann8(tmp_path / "other")
    stale = other.root / "ascend-toolkit/8.3.RC2"
    mine = tmp_path / "mine/bin"
    base = {
        "PATH": os.pathsep.join(["/usr/bin", "/bin", f"{stale}/{ARCH}-linux/lib64", str(mine)]),
        "CMAKE_PREFIX_PATH": f"{other.root}/nnal/atb/8.3.RC2/atb/cxx_abi_0:{mine}",
        "ASCEND_OPP_PATH": f"{stale}/opp",
        "ASCEND_CUSTOM_OPP_PATH": f"{stale}/custom",
        "ASCEND_GLOBAL_LOG_LEVEL": "1",
    }
    variables = cann_variables(provider(tree).locate(target(tree)), base)
    assert variables["ASCEND_HOME_PATH"] == str(tree.root / "cann-9.0.0")
    assert variables["ATB_HOME_PATH"] == str(tree.root / "nnal/atb/9.0.0/atb/./cxx_abi_1")
    driver = tree.root / "driver/lib64"
    assert variables["LD_LIBRARY_PATH"].split(":") == [
        str(tree.root / "cann-9.0.0/lib64"),
        str(driver / "driver"),
        str(driver),
    ]
    assert variables["PATH"] == f"/usr/bin:/bin:{mine}"
    assert variables["CMAKE_PREFIX_PATH"] == str(mine)
    assert variables["ASCEND_GLOBAL_LOG_LEVEL"] == "1"
    assert str(other.root) not in " ".join(variables.values())


def test_a_script_that_leads_to_a_second_toolkit_brings_only_its_own(tree: PlantedAscend) -> None:
    """CANN 9's set_env.sh also names what the link ascend-toolkit/latest leads to."""
    older_is_linked(tree)
    latest = tree.root / "ascend-toolkit/latest"
    with (tree.root / "cann-9.0.0/set_env.sh").open("a") as script:
        script.write(f"export PYTHONPATH={latest}/python/site-packages:{tree.root}/cann-9.0.0/python\n")
        script.write(f"export LD_LIBRARY_PATH={latest}/lib64:$LD_LIBRARY_PATH\n")
    base = {"PATH": "/bin:/usr/bin"}
    variables = cann_variables(provider(tree).locate(target(tree)), base)
    assert variables["PYTHONPATH"] == f"{tree.root}/cann-9.0.0/python"
    assert variables["LD_LIBRARY_PATH"].split(":")[0] == f"{tree.root}/cann-9.0.0/lib64"
    tree.link("cann", "cann-9.0.0")
    variables = cann_variables(provider(tree).locate(target(tree)), base)
    assert variables["PYTHONPATH"].split(":")[0] == f"{latest}/python/site-packages"


def test_stubs_to_link_against_are_not_loaded_where_there_is_a_driver(tree: PlantedAscend) -> None:
    devlib = tree.root / f"cann-9.0.0/{ARCH}-linux/devlib"
    with (tree.root / "cann-9.0.0/set_env.sh").open("a") as script:
        script.write(f"export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:{devlib}\n")
    found = provider(tree).locate(target(tree))
    assert str(devlib) not in cann_variables(found, {"PATH": "/bin:/usr/bin"})["LD_LIBRARY_PATH"]
    tree.remove("driver/lib64/driver/libascend_hal.so")
    assert str(devlib) in cann_variables(found, {"PATH": "/bin:/usr/bin"})["LD_LIBRARY_PATH"]


def test_the_abi_of_torch_chooses_atb_s(tree: PlantedAscend) -> None:
    for abi in (1, 0):
        tree.plant_torch(abi)
        variables = cann_variables(provider(tree).locate(target(tree)), {"PATH": "/bin:/usr/bin"})
        assert variables["ATB_HOME_PATH"].endswith(f"cxx_abi_{abi}")


# --- which one ---------------------------------------------------------------------------------------------


def older_is_linked(tree: PlantedAscend) -> None:
    """A second, older CANN with its ATB; all links mean that."""
    tree.plant_toolkit("8.5.1", "V100R001C25SPC002B220", "cann-8.5.1")
    tree.link("cann", "cann-8.5.1")
    tree.plant_atb("8.5.1", "B100")
    tree.link("nnal/atb/latest", "8.5.1")


def test_of_several_the_one_that_the_lock_means_is_used_whatever_the_links_mean(tree: PlantedAscend) -> None:
    told: list[str] = []
    older_is_linked(tree)
    found = provider(tree).provide(target(tree), told.append)
    assert found.cann_script == tree.root / "cann-9.0.0/set_env.sh"
    assert found.atb_script == tree.root / "nnal/atb/9.0.0/atb/set_env.sh"
    assert "the one that the lock means" in told[0]
    assert told[0].endswith(f"not used: 8.5.1 (V100R001C25SPC002B220) in {tree.root}/cann-8.5.1")


def test_one_in_the_home_folder_is_found_with_the_driver_of_the_host(
    tree: PlantedAscend, tmp_path: Path
) -> None:
    """The vendor's layout for a user: CANN and NNAL in $HOME/Ascend, the driver in /usr/local/Ascend."""
    host, own = PlantedAscend(tmp_path / "host"), plant_cann9(tmp_path / "home")
    host.plant_driver("25.5.1")
    for part in ("driver/version.info", "driver/lib64/driver/libascend_hal.so"):
        own.remove(part)
    for folder in ("lib64/driver", "lib64", ""):
        (own.root / "driver" / folder).rmdir()
    own.places = replace(own.places, usual=host.root, host_info=host.places.host_info)
    found = provider(host, own).locate(target(own))
    assert found.cann_script == own.root / "cann-9.0.0/set_env.sh"
    assert found.driver == host.root / "driver"
    assert found.faults == ()


def test_the_variables_choose_even_against_the_lock(tree: PlantedAscend) -> None:
    tree.plant_toolkit("9.0.0", B243, "cann-9.0.0-b243")
    assert provider(tree, variables=tree.variables()).locate(target(tree)).innerversion() == B250
    named = {"ASCEND_HOME_PATH": str(tree.root / "cann-9.0.0-b243")}
    with pytest.raises(UnusableError) as raised:
        provider(tree, variables=named).locate(target(tree))
    assert str(raised.value).splitlines() == [
        f"toolkit: innerversion is {B243}, expected {B250} ({tree.root}/cann-9.0.0-b243)"
        f" -> in a new shell: . {tree.root}/cann-9.0.0/set_env.sh",
        f"ops: innerversion is {B243}, expected {B250} ({tree.root}/cann-9.0.0-b243) {INSTALL}",
    ]
    assert not provider(tree, variables=named).ready(target(tree))


def test_variables_that_mean_two_canns_or_none_choose_nothing(tree: PlantedAscend) -> None:
    tree.plant_toolkit("8.5.1", "V100R001C25SPC002B220", "cann-8.5.1")
    provider(tree, variables=tree.variables()).locate(target(tree))
    two = tree.variables(ASCEND_TOOLKIT_HOME=str(tree.root / "cann-8.5.1"))
    with pytest.raises(
        UnusableError, match=r"ASCEND_HOME_PATH means 9.0.0 .*, but ASCEND_TOOLKIT_HOME means"
    ):
        provider(tree, variables=two).locate(target(tree))
    for name in ("ASCEND_HOME_PATH", "ATB_HOME_PATH"):
        with pytest.raises(UnusableError, match=rf"{name} is /gone: no folder .* -> unset {name}"):
            provider(tree, variables=tree.variables(**{name: "/gone"})).locate(target(tree))


def test_where_none_fits_all_are_named(tree: PlantedAscend, tmp_path: Path) -> None:
    empty = PlantedAscend(tmp_path / "empty")
    with pytest.raises(UnusableError) as raised:
        provider(empty).locate(target(empty))
    assert str(raised.value) == (
        "no CANN: neither ASCEND_HOME_PATH nor ASCEND_TOOLKIT_HOME is set, and there is none below"
        f" {empty.root}; expected 9.0.0 ({B250}); type: npu-assay cann install a-lock --from DIR"
    )
    tree.replace(f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info", B250, B243)
    with pytest.raises(UnusableError) as raised:
        provider(tree, empty).locate(target(tree))
    assert str(raised.value) == (
        f"no CANN 9.0.0 ({B250}) below {tree.root} or {empty.root}; found 9.0.0 ({B243}) in"
        f" {tree.root}/cann-9.0.0 (cann); type: npu-assay cann install a-lock --from DIR"
    )


# --- what is wrong with it ---------------------------------------------------------------------------------


def no_ops(tree: PlantedAscend) -> None:
    tree.remove(f"cann-9.0.0/{ARCH}-linux/ascend_ops_install.info")


def other_ops(tree: PlantedAscend) -> None:
    tree.replace(f"cann-9.0.0/{ARCH}-linux/ascend_ops_install.info", B250, B243)


def no_nnal(tree: PlantedAscend) -> None:
    for path in sorted((tree.root / "nnal").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def older_nnal(tree: PlantedAscend) -> None:
    no_nnal(tree)
    tree.plant_atb("8.5.0.alpha001", "B100")
    tree.link("nnal/atb/latest", "8.5.0.alpha001")


def other_architecture(tree: PlantedAscend) -> None:
    tree.replace(f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info", f"arch={ARCH}", "arch=x86_64")


def half_installed(tree: PlantedAscend) -> None:
    tree.remove("cann-9.0.0/set_env.sh")


def no_script_of_nnal(tree: PlantedAscend) -> None:
    tree.remove("nnal/atb/set_env.sh")
    tree.remove("nnal/atb/9.0.0/atb/set_env.sh")


def script_of_another(tree: PlantedAscend) -> None:
    tree.plant_toolkit("9.0.0", B243, "cann-9.0.0-b243")
    tree.write("cann-9.0.0/set_env.sh", (tree.root / "cann-9.0.0-b243/set_env.sh").read_text())


def no_abi(tree: PlantedAscend) -> None:
    tree.remove("nnal/atb/9.0.0/atb/cxx_abi_1/lib/libatb.so")
    for folder in ("lib", ""):
        (tree.root / "nnal/atb/9.0.0/atb/cxx_abi_1" / folder).rmdir()


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (no_ops, f"no ops package beside toolkit 9.0.0 .* {INSTALL}"),
        (other_ops, f"ops: innerversion is {B243}, expected {B250} .* {INSTALL}"),
        (no_nnal, f"no ATB beside toolkit 9.0.0 .* {INSTALL}"),
        (older_nnal, f"nnal: version is 8.5.0.alpha001, expected 9.0.0 .* {INSTALL}"),
        (other_architecture, f"is for x86_64, this machine is {ARCH} {INSTALL}"),
        (half_installed, f"has no set_env.sh: it is half installed {INSTALL}"),
        (no_script_of_nnal, f"set_env.sh is missing beside ATB 9.0.0 .* half installed {INSTALL}"),
        (script_of_another, f"set_env.sh leads to 9.0.0 \\({B243}\\) .*, expected 9.0.0 \\({B250}\\)"),
        (no_abi, f"no cxx_abi_1, which the installed torch needs {INSTALL}"),
    ],
)
def test_every_fault_is_one_line_with_what_mends_it(
    tree: PlantedAscend, fault: Callable[[PlantedAscend], None], says: str
) -> None:
    provider(tree).locate(target(tree))
    fault(tree)
    with pytest.raises(UnusableError, match=says) as raised:
        provider(tree).locate(target(tree))
    assert all(" -> " in line for line in str(raised.value).splitlines())
    assert raised.value.exit_code == 4


def no_driver(tree: PlantedAscend) -> None:
    tree.remove("driver/version.info")
    tree.remove("driver/lib64/driver/libascend_hal.so")


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (no_driver, "the driver's version can't be read"),
        (lambda tree: tree.plant_driver("24.1.rc3"), "driver 24.1.rc3 is too old for CANN 9.0.0"),
        (
            lambda tree: tree.remove("driver/lib64/driver/libascend_hal.so"),
            "no libascend_hal.so below .*: CANN finds no device without it -> in a container: start it with",
        ),
    ],
)
def test_a_driver_is_needed_to_run_but_not_to_build(
    tree: PlantedAscend, fault: Callable[[PlantedAscend], None], says: str
) -> None:
    assert provider(tree).locate(target(tree)).faults == ()
    fault(tree)
    told: list[str] = []
    found = provider(tree).provide(target(tree), told.append)
    assert re.search(says, "\n".join(found.faults))
    assert told[1:] == [f"nothing can run here yet: {line}" for line in found.faults]


def test_a_lock_without_a_build_takes_any(tree: PlantedAscend) -> None:
    any_build = replace(LOCKED, build=None, ops_build=None, atb_build=None)
    tree.replace(f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info", B250, B243)
    tree.replace(f"cann-9.0.0/{ARCH}-linux/ascend_ops_install.info", B250, B243)
    assert provider(tree).locate(target(tree, any_build)).innerversion() == B243
    with pytest.raises(UnusableError, match=r"no CANN 9\.0\.0"):
        provider(tree).locate(target(tree))


def test_the_layout_of_before_8_5_is_found_by_its_own_scripts(tmp_path: Path) -> None:
    tree = plant_cann8(tmp_path)
    expected = Expected(version="8.3.RC2", build="V100R001C23SPC002B210", atb_version="8.3.RC2")
    found = provider(tree).locate(target(tree, expected))
    assert found.cann_script == tree.root / "ascend-toolkit/set_env.sh"
    variables = cann_variables(found, {"PATH": "/bin:/usr/bin"})
    assert variables["ASCEND_HOME_PATH"] == str(tree.root / "ascend-toolkit/latest")


def test_npu_smi_is_looked_for_where_it_was_put(tree: PlantedAscend, tmp_path: Path) -> None:
    sbin, nowhere = tmp_path / "sbin", tmp_path / "nowhere"
    tree.write(str(sbin / "npu-smi"), "")
    tree.places = replace(tree.places, npu_smi=(sbin, nowhere))
    assert provider(tree).locate(target(tree)).other_tools == (sbin,)


def test_the_usual_places_are_all_users_and_the_caller_s_own() -> None:
    assert [place.root for place in usual_places({"HOME": "/home/a"})] == [
        Path("/usr/local/Ascend"),
        Path("/home/a/Ascend"),
    ]
    assert usual_places({}) == (Places(),)
