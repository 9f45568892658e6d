"""Each fault that is planted on a copy of the emulated tree is found by `npu-assay doctor`, with its advice.

The machine is: the emulated CANN of the default environment, copied; a small venv with a dist-info of
everything that the lock names; for hardware the same tree, relabelled as B250, with a scripted npu-smi and a
folder of nodes. Every test first sees the machine without a problem.
"""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import packages_tree
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from npu_smi_texts import HEALTH, LISTING, MAPPING, SICK, card, idle, info, process

from npu_assay.commands.doctor import doctor
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import Kind, load_lock
from npu_assay.environment.variant import Variant
from npu_assay.schemas import schema_file

pytestmark = pytest.mark.environment

NPU_SMI = '#!/bin/sh\ncat "$(dirname "$0")/$(echo "$*" | tr \' \' _)"\n'
B250 = "V100R001C10SPC001B250"
CANN, ATB, DRIVER = "cann-9.0.0", "nnal/atb/9.0.0/version.info", "driver/version.info"


@dataclass
class Machine:
    """A machine to harm and to look at."""

    root: Path
    venv: Path
    dev: Path
    kind: Kind

    @property
    def site(self) -> Path:
        [site] = self.venv.glob("lib/python*/site-packages")
        return site

    @property
    def info(self) -> Path:
        [info] = self.root.glob(f"{CANN}/*-linux/ascend_toolkit_install.info")
        return info

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        (self.root / name).write_text(text.replace(old, new))

    def answer(self, question: str, text: str) -> None:
        """What npu-smi says from now on."""
        (self.root / "driver/tools" / question.replace(" ", "_")).write_text(text)

    def doctor(self) -> dict[tuple[str, str], str]:
        """(level, check) -> message and advice, of all that is not good."""
        words = ["--device", "npu" if self.kind == "hardware" else "emulated", "--json"]
        words += ["--root", str(self.root), "--dev", str(self.dev), "--venv", str(self.venv)]
        ran = CliRunner().invoke(doctor, words)
        report = json.loads(ran.stdout)
        Draft202012Validator(json.loads(schema_file("doctor").read_text())).validate(report)
        found = {
            (one["level"], one["check"]): f"{one['message']}\n{one['advice']}"
            for group in report["groups"]
            for one in group["diagnoses"]
            if one["level"] != "good"
        }
        assert report["problems"] == sum(
            one["level"] == "problem" for group in report["groups"] for one in group["diagnoses"]
        )
        assert bool(report["problems"]) == (ran.exit_code != 0)
        return found

    def problems(self) -> dict[str, str]:
        return {check: text for (level, check), text in self.doctor().items() if level == "problem"}


@pytest.fixture
def plant(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Machine]:
    """Plants a healthy machine of either kind."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ATB_HOME_PATH", "ASCEND_RT_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)

    def plant(kind: Kind) -> Machine:
        machine = Machine(tmp_path / "Ascend", tmp_path / "venv", tmp_path / "dev", kind)
        shutil.copytree(environment.cann.root, machine.root, symlinks=True)
        machine.replace(
            str(machine.info.relative_to(machine.root)), str(environment.cann.root), str(machine.root)
        )
        site = machine.venv / f"lib/python{environment.python_version}/site-packages"
        site.mkdir(parents=True)
        (machine.venv / "bin").mkdir()
        (machine.venv / "bin/python").symlink_to(sys.executable)
        (machine.venv / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
        packages_tree.install(site, Variant.of(load_lock(), kind))
        machine.dev.mkdir()
        if kind == "hardware":
            _as_hardware(machine, monkeypatch)
        return machine

    return plant


def _as_hardware(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    name = str(machine.info.relative_to(machine.root))
    machine.replace(name, "EMULATED", B250)
    ops = machine.info.with_name("ascend_ops_install.info")
    ops.write_text(machine.info.read_text().replace("cann-toolkit", "cann-910b-ops"))
    machine.replace(f"{CANN}/version.cfg", "EMULATED", "7.9.0.1.220")
    machine.replace(ATB, "EMULATED", "B160")
    machine.replace(DRIVER, "+emulated", "")
    machine.replace(DRIVER, "EMULATED", "V100R001C23SPC006B220")
    smi = machine.root / "driver/tools/npu-smi"
    smi.unlink()
    smi.write_text(NPU_SMI)
    smi.chmod(0o755)
    machine.answer("info", info(card(0), card(3), processes=idle(0) + idle(3)))
    machine.answer("info -m", MAPPING)
    machine.answer("info -l", LISTING)
    for npu in (0, 3):
        machine.answer(f"info -t health -i {npu} -c 0", HEALTH)
    for node in ("davinci0", "davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"):
        (machine.dev / node).touch()
    monkeypatch.setenv("ASCEND_HOME_PATH", str(machine.root / CANN))
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(machine.root / CANN))
    monkeypatch.setenv("ATB_HOME_PATH", str(machine.root / "nnal/atb/latest/atb/cxx_abi_1"))


def _second_build(machine: Machine) -> None:
    other = machine.root / "cann-9.0.0-b160"
    shutil.copytree(machine.root / CANN, other, symlinks=True)
    [info] = other.glob("*-linux/ascend_toolkit_install.info")
    info.write_text(info.read_text().replace("B250", "B160").replace(str(machine.root / CANN), str(other)))
    (machine.root / "cann").unlink()
    (machine.root / "cann").symlink_to(other.name)


def _older_atb(machine: Machine) -> None:
    shutil.copytree(machine.root / "nnal/atb/9.0.0", machine.root / "nnal/atb/8.5.0", symlinks=True)
    machine.replace("nnal/atb/8.5.0/version.info", "9.0.0", "8.5.0")
    (machine.root / "nnal/atb/latest").unlink()
    (machine.root / "nnal/atb/latest").symlink_to("8.5.0")


def _no_hal(machine: Machine) -> None:
    for library in machine.root.glob("driver/lib64/*/libascend_hal.so"):
        library.unlink()


def _triton_beside(machine: Machine) -> None:
    packages_tree.add(machine.site, "triton", "3.6.0", {"triton/runtime.py": "# upstream's\n"})


def _triton_gone_again(machine: Machine) -> None:
    shared = packages_tree.FILES["triton-ascend"]
    packages_tree.add(machine.site, "triton", "3.6.0", dict(shared))
    packages_tree.remove(machine.site, "triton")


def _unpatched_triton(machine: Machine) -> None:
    packages_tree.remove(machine.site, "triton-ascend")
    files = dict(packages_tree.FILES["triton-ascend"])
    files[packages_tree.DRIVER] = "def set_device_limit(): ...\n"
    packages_tree.add(machine.site, "triton-ascend", "3.2.0", files)


def _other_torch(machine: Machine) -> None:
    packages_tree.remove(machine.site, "torch")
    packages_tree.add(machine.site, "torch", "2.10.0", {"torch/__init__.py": ""})


def _no_plug_in(machine: Machine) -> None:
    packages_tree.remove(machine.site, "vllm-ascend-params")
    shutil.rmtree(machine.site / "vllm_ascend_params")


PACKAGE_FAULTS = [
    (_triton_beside, "triton 3.6.0", "uninstall -y triton;"),
    (_triton_gone_again, "triton-ascend", "install --no-deps triton-ascend==3.2.0"),
    (_unpatched_triton, "set_device_limit", "npu-assay env edit-triton"),
    (_other_torch, "torch is 2.10.0", "install --no-deps --force-reinstall torch==2.9.0"),
    (_no_plug_in, "vllm_ascend_params", "install --no-deps"),
]


@pytest.mark.parametrize(("fault", "message", "advice"), PACKAGE_FAULTS)
def test_a_fault_in_the_packages(
    plant: Callable[..., Machine], fault: Callable[[Machine], None], message: str, advice: str
) -> None:
    machine = plant("emulated")
    assert machine.problems() == {}
    fault(machine)
    found = machine.problems()
    assert len(found) == 1, found
    [text] = found.values()
    assert message in text
    assert advice in text


CANN_FAULTS = [
    (_older_atb, "8.5.0", "nnal"),
    (_no_hal, "libascend_hal.so", "driver"),
    (lambda machine: machine.replace(DRIVER, "25.5.1", "24.1.rc3"), "24.1.rc3", "driver"),
]


@pytest.mark.parametrize(("fault", "message", "advice"), CANN_FAULTS)
def test_a_fault_in_cann(
    plant: Callable[..., Machine], fault: Callable[[Machine], None], message: str, advice: str
) -> None:
    machine = plant("hardware")
    assert machine.problems() == {}
    fault(machine)
    found = machine.problems()
    assert found
    assert any(message in text and advice in text for text in found.values()), found


def test_two_builds_of_one_version(plant: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    machine = plant("hardware")
    assert machine.problems() == {}
    _second_build(machine)
    found = machine.doctor()
    assert machine.problems() == {}, "the variables still name the lock's build"
    assert any("B160" in text and "B250" in text for text in found.values()), found
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.setenv(name, str(machine.root / "cann"))
    found = machine.problems()
    assert "B160, expected V100R001C10SPC001B250" in found["cann-expected"]
    assert f"in a new shell: . {machine.root / CANN}/set_env.sh" in found["cann-expected"]


def test_a_reordered_install_info_is_read_as_before(plant: Callable[..., Machine]) -> None:
    machine = plant("hardware")
    before = machine.doctor()
    lines = machine.info.read_text().splitlines()
    machine.info.write_text("\n".join(reversed(lines)) + "\n")
    assert machine.doctor() == before
    machine.info.write_text("\n".join(line for line in lines if not line.startswith("innerversion=")) + "\n")
    assert "innerversion" in "".join(machine.problems().values())


def _sick(machine: Machine) -> None:
    machine.answer("info", info(card(0), card(3, health="Alarm"), processes=idle(0) + idle(3)))
    machine.answer("info -t health -i 3 -c 0", SICK)


def _busy(machine: Machine) -> None:
    machine.answer("info", info(card(0), card(3), processes=process(0, 77) + process(3, 78)))


def _no_nodes(machine: Machine) -> None:
    for node in machine.dev.iterdir():
        node.unlink()


def _cut_short(machine: Machine) -> None:
    machine.answer("info", info(card(0), card(3), processes=idle(0) + idle(3))[:-150])


NPU_FAULTS = [
    (_cut_short, "npu-smi", "ask again"),
    (_sick, "die-health", "npu-smi set -t reset -i 3"),
    (_busy, "die-busy", "end that process"),
    (_no_nodes, "device-nodes", "--device /dev/davinci0"),
]


@pytest.mark.parametrize(("fault", "check", "advice"), NPU_FAULTS)
def test_a_fault_of_the_npus(
    plant: Callable[..., Machine], fault: Callable[[Machine], None], check: str, advice: str
) -> None:
    machine = plant("hardware")
    assert machine.problems() == {}
    fault(machine)
    found = machine.problems()
    assert [*found] == [check]
    assert advice in found[check]


def test_no_npu_at_all_is_a_problem_for_who_asked_for_one(plant: Callable[..., Machine]) -> None:
    machine = plant("hardware")
    assert machine.problems() == {}
    _no_nodes(machine)
    shutil.rmtree(machine.root / "driver")
    found = machine.problems()["npu"]
    assert "no NPU here: no npu-smi, no driver, no " in found
    assert "`--device emulated`" in found


def test_nodes_that_this_user_may_not_open(
    plant: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = plant("hardware")
    assert machine.problems() == {}
    # root may open everything, so the system's answer is played; the room's own tests ask it as another user.
    monkeypatch.setattr("os.access", lambda path, mode: "davinci" not in str(path))
    found = machine.problems()
    assert "usermod -aG HwHiAiUser" in found["device-nodes-access"]


def test_a_plug_in_without_its_module_is_told_and_not_fatal(plant: Callable[..., Machine]) -> None:
    machine = plant("emulated")
    assert machine.problems() == {}
    packages_tree.add(
        machine.site,
        "msserviceprofiler",
        "1.0",
        {},
        "[vllm.general_plugins]\nascend_service_profiling = msserviceprofiler.vllm:register\n",
    )
    found = machine.doctor()
    assert machine.problems() == {}
    assert any("msserviceprofiler" in text and "plug-in" in text for text in found.values()), found
