"""Doctor and env check judge the CANN that a run on an NPU would use, not the one that a link means."""

import platform
from pathlib import Path

import pytest
from planted_ascend import PlantedAscend, plant_cann9

from npu_assay.cann.host import HostProvider
from npu_assay.diagnosis import Level
from npu_assay.doctor.machine import Machine
from npu_assay.environment.drift.cann import cann
from npu_assay.environment.drift.look import look_at
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock


@pytest.fixture
def tree(tmp_path: Path) -> PlantedAscend:
    """The lock's CANN with an older one beside it, which all links mean; for this machine."""
    tree = plant_cann9(tmp_path, platform.machine())
    tree.plant_toolkit("8.5.1", "V100R001C25SPC002B220", "cann-8.5.1")
    tree.link("cann", "cann-8.5.1")
    tree.plant_atb("8.5.1", "B100")
    tree.link("nnal/atb/latest", "8.5.1")
    return tree


def environment_of(tree: PlantedAscend) -> Environment:
    return Environment.of(load_lock("cann900-vllm018"), "hardware", tree.folder / "cache")


def problems(tree: PlantedAscend, variables: dict[str, str]) -> list[str]:
    base = {"PATH": "/usr/bin:/bin"} | variables
    machine = Machine(environment_of(tree), dev=tree.folder, variables=base, places=(tree.places,))
    return [fault.message for fault in machine.looks["cann"]() if fault.level is Level.PROBLEM]


def test_the_one_that_a_run_finds_by_itself_is_judged(tree: PlantedAscend) -> None:
    assert problems(tree, {}) == []
    assert "toolkit: version is 8.5.1, expected 9.0.0" in "".join(
        problems(tree, {"ASCEND_HOME_PATH": str(tree.root / "cann")})
    )


def test_env_check_compares_it_too(tree: PlantedAscend, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ATB_HOME_PATH"):
        monkeypatch.delenv(name, raising=False)
    environment = environment_of(tree)
    environment.__dict__["provider"] = HostProvider(variables={}, places=(tree.places,))
    assert list(cann(look_at(environment))) == []
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tree.root / "cann"))
    environment.__dict__["provider"] = HostProvider(places=(tree.places,))
    found = next(iter(cann(look_at(environment))))
    assert found.message.startswith("toolkit: version is 8.5.1, expected 9.0.0")
    assert found.advice == "npu-assay cann install cann900-vllm018 --from DIR"


def test_what_others_need_comes_first(tree: PlantedAscend, tmp_path: Path) -> None:
    """Of an NPU the driver, then CANN, without which no environment is; an emulator is built last."""
    emulated = Machine(Environment.of(load_lock("cann900-vllm018"), "emulated", tmp_path))
    assert list(emulated.looks) == ["environment", "cann", "npu"]
    assert list(Machine(environment_of(tree)).looks) == ["npu", "cann", "environment"]
