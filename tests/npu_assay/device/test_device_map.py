"""Logical to physical, held against /dev and the visibility variables."""

import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from npu_smi_texts import (
    A3,
    C950,
    MAPPING,
    MAPPING_950,
    MAPPING_A3,
    REMAP,
    card,
    columns,
    die_950,
    dual_die,
    info,
)
from other_user import as_another_user

from npu_assay.commands.device import device
from npu_assay.device.device_map import map_devices
from npu_assay.device.nodes import docker_flags, read_nodes
from npu_assay.device.visible import container_visible, rt_visible
from npu_assay.errors import UsageError

TEXTS = {
    "A2": (info(card(0), card(3)), MAPPING),
    "A3": (info(dual_die(2, (4, 5)), layout=A3), MAPPING_A3),
    "950": (info(die_950(4), die_950(6), layout=C950), MAPPING_950),
}


@pytest.mark.parametrize(
    ("layout", "numbers", "nodes", "by"),
    [
        ("A3", (4, 5), ["davinci4", "davinci5"], "physical id"),
        ("950", (4, 6), ["davinci4", "davinci6"], "physical id"),
        ("A2", (0, 1), ["davinci0", "davinci1"], "order"),
        ("A2", (2, 7), ["davinci2", "davinci7"], "order"),
    ],
)
def test_a_die_has_its_node(host_of, make_dev, layout, numbers, nodes, by):
    found = map_devices(host_of(*TEXTS[layout]), read_nodes(make_dev(*numbers)), {})
    assert found.problems == ()
    assert [(die.node, die.node_by) for die in found.dies] == [(node, by) for node in nodes]


def test_the_remap_fills_in_what_the_mapping_lacks(host_of, make_dev):
    remap = REMAP.replace(":2", ":3").replace("Logic ID               :0", "Logic ID               :1")
    host = host_of(*TEXTS["A2"], remap)
    assert [(die.logical_id, die.physical_id) for die in host.dies] == [(0, None), (1, 4)]
    assert host.problems == ()


@pytest.mark.parametrize(
    ("layout", "numbers", "problem"),
    [
        ("A3", (4,), "NPU 2 chip 1: physical id 5, but no "),
        ("A3", (4, 5, 9), "davinci9: of no die that npu-smi shows"),
        ("A2", (1,), "npu-smi shows 2 dies, "),
        ("A2", (), "has no davinci node"),
    ],
)
def test_nodes_without_dies_and_dies_without_nodes(host_of, make_dev, layout, numbers, problem):
    good = (4, 5) if layout == "A3" else (0, 1)
    assert map_devices(host_of(*TEXTS[layout]), read_nodes(make_dev(*good)), {}).problems == ()
    for path in make_dev().glob("davinci[0-9]*"):
        path.unlink()
    problems = map_devices(host_of(*TEXTS[layout]), read_nodes(make_dev(*numbers)), {}).problems
    assert problem in "\n".join(problems)


def test_a_container_with_davinci1_alone(host_of, make_dev):
    """Its only die is logical 0, and its node is not davinci0."""
    row = columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name") + columns(3, 0, 0, "Ascend 910B3")
    (die,) = map_devices(host_of(info(card(3)), row), read_nodes(make_dev(1)), {}).dies
    assert (die.logical_id, die.node, die.index) == (0, "davinci1", 0)


def test_the_managers_have_to_be_there_but_the_950_has_no_devmm_svm(host_of, make_dev):
    a2 = host_of(*TEXTS["A2"])
    dev = make_dev(0, 1, managers=("davinci_manager", "hisi_hdc"))
    assert map_devices(a2, read_nodes(dev), {}).problems == (f"{dev}/devmm_svm: not there",)
    (dev / "devmm_svm").touch()
    assert map_devices(a2, read_nodes(dev), {}).problems == ()
    (dev / "devmm_svm").unlink()
    for path in (dev / "davinci0", dev / "davinci1"):
        path.unlink()
    dev = make_dev(4, 6, managers=("davinci_manager", "hisi_hdc"))
    assert map_devices(host_of(*TEXTS["950"]), read_nodes(dev), {}).problems == ()
    assert "devmm_svm" in docker_flags((0,))
    assert "devmm_svm" not in docker_flags((0,), is_950=True)


def test_a_node_that_this_user_may_not_open():
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others altogether
        dev = Path(name)
        dev.chmod(0o755)
        for node in ("davinci0", "davinci_manager", "devmm_svm", "hisi_hdc"):
            (dev / node).touch()
            (dev / node).chmod(0o666)
        assert as_another_user(lambda: list(read_nodes(dev).closed)) == []
        (dev / "davinci0").chmod(0o440)
        assert as_another_user(lambda: list(read_nodes(dev).closed)) == ["davinci0"]
        assert read_nodes(dev, may_open=lambda path: path.name != "hisi_hdc").closed == ("hisi_hdc",)


@pytest.mark.parametrize(
    ("value", "ids", "problem"),
    [
        ("0", (0,), None),
        ("1,3", (1, 3), None),
        ("3,1", (3, 1), "ascending order only"),
        ("1, 2,3", (1,), "' 2' is no logical id here; it and what follows is not read, only 1 is seen"),
        ("1,3,8", (1, 3), "'8' is no logical id here"),
        ("1,2,-1,3", (1, 2), "'-1' is no logical id here"),
        ("8,0", (), "'8' is no logical id here; it and what follows is not read, no die is seen"),
        ("", (), "no die is seen"),
        ("1,1", (1,), "'1' is no logical id here"),
        ("0-3", (), "'0-3' is no logical id here"),
    ],
)
def test_an_id_that_does_not_exist_hides_what_follows(value, ids, problem):
    visible = rt_visible(value, range(4))
    assert visible.ids == ids
    assert (visible.problem is None) if problem is None else (problem in str(visible.problem))


def test_the_order_of_the_ids_is_the_processs_numbering(host_of):
    host = host_of(*TEXTS["A3"])
    assert [die.index for die in map_devices(host, None, {}).dies] == [0, 1]
    one = map_devices(host, None, {"ASCEND_RT_VISIBLE_DEVICES": "1"})
    assert [(die.logical_id, die.index) for die in one.dies] == [(0, None), (1, 0)]
    assert one.problems == ()


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("0", {0}),
        ("1,3", {1, 3}),
        ("0-2,4", {0, 1, 2, 4}),
        ("Ascend910-1, Ascend910-3", {1, 3}),
        ("void", set()),
        ("", set()),
    ],
)
def test_the_containers_variable_names_physical_ids(value, named):
    assert container_visible(value) == named


@pytest.mark.parametrize("value", ["all", "3-1", "0-99999999", "0;1", "-1"])
def test_the_containers_variable_is_not_guessed_at(value):
    assert container_visible("0-1") == {0, 1}
    with pytest.raises(UsageError, match="is no physical id, range"):
        container_visible(value)


def test_a_wish_to_the_container_runtime_that_was_not_heard(host_of, make_dev):
    host, nodes = host_of(*TEXTS["A3"]), read_nodes(make_dev(4, 5))
    assert map_devices(host, nodes, {"ASCEND_VISIBLE_DEVICES": "4,5"}).problems == ()
    (problem,) = map_devices(host, nodes, {"ASCEND_VISIBLE_DEVICES": "5"}).problems
    assert "ASCEND_VISIBLE_DEVICES='5' was not honoured" in problem
    assert "davinci4 too" in problem
    (problem,) = map_devices(host, nodes, {"ASCEND_VISIBLE_DEVICES": "4-6"}).problems
    assert problem.endswith("has no davinci6")


def test_the_command_prints_the_map_and_fails_where_it_contradicts_itself(smi, make_dev):
    dev = make_dev(0, 1)
    good = CliRunner().invoke(device, ["map", "--dev", str(dev)])
    assert good.exit_code == 0, good.output
    assert good.output.splitlines()[1] == (
        "NPU 3 chip 0: logical id 1, physical id -, davinci1 (by order), device 1 of a process"
    )
    (dev / "davinci1").unlink()
    bad = CliRunner().invoke(device, ["map", "--dev", str(dev)])
    assert bad.exception.exit_code == 1
    assert "npu-smi shows 2 dies" in str(bad.exception)
