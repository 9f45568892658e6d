"""CANN, ATB and driver are found by whatever name, and each once."""

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from planted_ascend import ARCH, B243, B250, PlantedAscend, plant_cann8, plant_cann9

from npu_assay.cann.discovery import USUAL_ROOT, root_of
from npu_assay.cann.hal import HalKind, chosen_hal


@pytest.fixture
def tree(tmp_path: Path) -> PlantedAscend:
    return plant_cann9(tmp_path)


def roots_and_names(tree: PlantedAscend, **variables: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(toolkit.root.name, toolkit.names) for toolkit in tree.found(variables).toolkits]


def test_links_folders_and_variables_that_mean_one_cann_are_one(tree: PlantedAscend) -> None:
    names = ("cann", "ascend-toolkit/latest", "cann-9.0.0")
    assert roots_and_names(tree) == [("cann-9.0.0", names)]
    home = str(tree.root / "ascend-toolkit/latest")
    assert roots_and_names(tree, ASCEND_HOME_PATH=home) == [("cann-9.0.0", ("ASCEND_HOME_PATH", *names))]
    arch = str(tree.root / f"cann/{ARCH}-linux")
    assert roots_and_names(tree, ASCEND_TOOLKIT_HOME=arch) == [
        ("cann-9.0.0", ("ASCEND_TOOLKIT_HOME", *names))
    ]


def test_variables_come_before_links_and_links_before_folders(tree: PlantedAscend) -> None:
    tree.plant_toolkit("9.0.0", B243, "cann-9.0.0-weekly")
    assert [root for root, _ in roots_and_names(tree)] == ["cann-9.0.0", "cann-9.0.0-weekly"]
    weekly = str(tree.root / "cann-9.0.0-weekly")
    assert roots_and_names(tree, ASCEND_HOME_PATH=weekly)[0] == (
        "cann-9.0.0-weekly",
        ("ASCEND_HOME_PATH", "cann-9.0.0-weekly"),
    )


def test_a_cann_out_of_the_root_is_found_by_its_variable(tree: PlantedAscend, tmp_path: Path) -> None:
    other = plant_cann9(tmp_path / "other")
    other.replace(f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info", B250, B243)
    found = tree.found({"ASCEND_TOOLKIT_HOME": str(other.root / "cann")})
    assert [toolkit.value and toolkit.value.build for toolkit in found.toolkits] == ["B243", "B250"]


def test_before_8_5_latest_is_a_folder_of_links(tmp_path: Path) -> None:
    tree = plant_cann8(tmp_path)
    (toolkit,) = tree.found({"ASCEND_HOME_PATH": str(tree.root / "ascend-toolkit/latest")}).toolkits
    assert toolkit.root == tree.root / "ascend-toolkit/8.3.RC2"
    assert toolkit.names == ("ASCEND_HOME_PATH", "ascend-toolkit/latest", "ascend-toolkit/8.3.RC2")
    assert toolkit.script == tree.root / "ascend-toolkit/set_env.sh"
    assert (toolkit.ops, toolkit.kernels is not None, toolkit.version_cfg is not None) == (None, True, True)


def test_every_atb_is_found_the_chosen_one_first(tree: PlantedAscend, tmp_path: Path) -> None:
    tree.plant_atb("8.5.0", "B100")
    names = [atb.names for atb in tree.found({}).atbs]
    assert names == [("nnal/atb/latest", "nnal/atb/9.0.0"), ("nnal/atb/8.5.0",)]
    copied = plant_cann9(tmp_path / "image").root / "nnal/atb/9.0.0/atb/cxx_abi_1"
    first, *others = tree.found({"ATB_HOME_PATH": str(copied)}).atbs
    assert (first.root, first.names) == (copied.parent.parent, ("ATB_HOME_PATH",))
    assert len(others) == 2
    inside = tree.write(str(copied.parent / "set_env.sh"), "")
    (copied.parent.parent.parent / "set_env.sh").unlink()
    assert tree.found({"ATB_HOME_PATH": str(copied)}).atb_script == inside
    assert tree.found({}).atb_script == tree.root / "nnal/atb/set_env.sh"


def test_links_in_a_circle_and_odd_variables_are_no_cann(tree: PlantedAscend) -> None:
    assert tree.found({}).dangling == ()
    tree.link("cann", "cann")
    tree.link("ascend-toolkit/latest", "../cann")
    tree.link("nnal/atb/latest", "latest")
    found = tree.found({"ASCEND_HOME_PATH": "relative/path", "ATB_HOME_PATH": "x" * 5000})
    assert [dangling.name for dangling in found.dangling] == [
        *("ASCEND_HOME_PATH", "cann", "ascend-toolkit/latest", "ATB_HOME_PATH", "nnal/atb/latest"),
    ]
    assert [toolkit.root.name for toolkit in found.toolkits] == ["cann-9.0.0"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "large", "bytes"])
def test_a_version_file_that_is_none_is_a_problem_never_waited_for(tree: PlantedAscend, kind: str) -> None:
    driver = tree.root / "driver/version.info"
    assert tree.found({}).driver.value is not None
    driver.unlink()
    match kind:
        case "folder":
            driver.mkdir()
        case "pipe":
            os.mkfifo(driver)
        case "large":
            driver.write_text("#" * (1 << 21))
        case "bytes":
            driver.write_bytes(b"Version=25.5.1\n\xff=1\n")
    info = tree.found({}).driver.info
    assert info is not None
    assert info.value is None
    assert str(driver) in (info.problem or "")


def test_the_driver_is_where_its_installer_says_or_as_usual(tree: PlantedAscend, tmp_path: Path) -> None:
    assert tree.found({}).driver.root == tree.root / "driver"
    (tree.root / "driver").rename(tmp_path / "driver")
    tree.replace(str(tree.places.host_info), str(tree.root), str(tmp_path))
    assert tree.found({}).driver.root == tmp_path / "driver"
    tree.places.host_info.unlink()
    assert tree.found({}).driver.info is None
    tree.places = replace(tree.places, usual=tmp_path)
    assert tree.found({}).driver.root == tmp_path / "driver"


def test_the_root_is_that_of_the_variables(tree: PlantedAscend, tmp_path: Path) -> None:
    assert root_of({}) == USUAL_ROOT
    assert root_of({"ASCEND_HOME_PATH": str(tree.root / "cann")}) == tree.root
    assert root_of({"ASCEND_TOOLKIT_HOME": str(tree.root / "ascend-toolkit/latest")}) == tree.root
    old = plant_cann8(tmp_path / "old")
    assert root_of({"ASCEND_HOME_PATH": str(old.root / "ascend-toolkit/latest")}) == old.root
    assert root_of({"ASCEND_HOME_PATH": "/gone/cann"}) == USUAL_ROOT
    assert root_of({"HOME": str(tree.root.parent)}) == tree.root


def test_the_hal_library_of_the_system_counts_where_the_driver_has_none(tree: PlantedAscend) -> None:
    system = tree.places.system_libraries
    assert chosen_hal(tree.found({}), {}, system).kind is HalKind.NOT_ON_PATH
    tree.remove("driver/lib64/driver/libascend_hal.so")
    assert chosen_hal(tree.found({}), {}, system).kind is HalKind.MISSING
    copy = tree.write(str(system[0] / "libascend_hal.so"), "")
    assert chosen_hal(tree.found({}), {}, system).path == copy


def test_what_this_user_can_not_read_is_no_error() -> None:
    """Looked at as another user, since root reads everything."""
    with TemporaryDirectory() as folder:  # tmp_path is closed to other users
        Path(folder).chmod(0o755)
        tree = plant_cann9(Path(folder))
        assert [toolkit.value is not None for toolkit in tree.found({}).toolkits] == [True]
        (tree.root / "cann-9.0.0").chmod(0o000)
        child = os.fork()
        if child == 0:
            if os.geteuid() == 0:
                os.setuid(65534)
            try:
                os._exit([toolkit.value for toolkit in tree.found({}).toolkits] != [None])
            finally:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        (tree.root / "cann-9.0.0").chmod(0o755)
        assert os.waitstatus_to_exitcode(status) == 0
