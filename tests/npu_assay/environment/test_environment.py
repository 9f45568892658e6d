"""What a command gets to run in an environment."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from npu_assay.cache import mark_complete
from npu_assay.cann.provider import Report, Target
from npu_assay.cann.tree import CannTree
from npu_assay.environment.environment import Environment
from npu_assay.errors import UnusableError


class FakeProvider:
    """A CANN that is a folder with two scripts."""

    name = "fake"
    needs: tuple[str, ...] = ()

    def __init__(self, tree: CannTree) -> None:
        self.tree = tree

    def locate(self, target: Target) -> CannTree:
        return self.tree

    def ready(self, target: Target) -> bool:
        return self.tree.root.is_dir()

    def provide(self, target: Target, report: Report) -> CannTree:
        return self.tree


@pytest.fixture
def whole(small: Environment, tmp_path: Path) -> Environment:
    """An installed environment, as far as its variables are concerned."""
    tree = CannTree.laid_out(tmp_path / "Ascend")
    for script in (tree.cann_script, tree.atb_script):
        script.parent.mkdir(parents=True)
    for folder in (tree.tools, tree.driver_folders[0]):
        folder.mkdir(parents=True)
    tree.cann_script.write_text(
        "export ASCEND_TOOLKIT_HOME=/cann\nexport LD_LIBRARY_PATH=/cann/lib64:$LD_LIBRARY_PATH\n"
        "export PYTHONPATH=/cann/python:$PYTHONPATH\n"
    )
    tree.atb_script.write_text(
        "export ATB_HOME_PATH=/atb\nexport LD_LIBRARY_PATH=/atb/lib:$LD_LIBRARY_PATH\n"
    )
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    environment = Environment(small.variant, small.root, small.cache, adaptations_source=plugin)
    environment.__dict__["provider"] = FakeProvider(tree)
    environment.python.parent.mkdir(parents=True)
    environment.python.touch()
    environment.cuda_standins.mkdir()
    environment.adaptations.mkdir(parents=True)
    mark_complete(environment.root, {})
    mark_complete(environment.adaptations_folder, {})
    return environment


CALLER = {
    "PATH": "/usr/bin",
    "HOME": "/home/a",
    "LD_LIBRARY_PATH": "/stray",
    "PYTHONPATH": "/stray",
    "PYTHONHOME": "/stray",
    "PYTHONOPTIMIZE": "2",
    "PYTEST_ADDOPTS": "-k nothing",
    "PYTEST_PLUGINS": "stray",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}


def test_a_command_gets_what_the_scripts_set_and_nothing_stray(whole: Environment, tmp_path: Path) -> None:
    ascend = tmp_path / "Ascend"
    variables = whole.variables(CALLER)
    assert variables["PATH"].split(":") == [
        str(whole.venv / "bin"),
        str(ascend / "driver" / "tools"),
        "/usr/bin",
    ]
    assert variables["LD_LIBRARY_PATH"].split(":") == [
        "/atb/lib",
        "/cann/lib64",
        str(whole.cuda_standins),
        str(ascend / "driver" / "lib64" / "driver"),
        str(ascend / "driver" / "lib64"),
    ]
    assert variables["PYTHONPATH"].split(":") == [str(whole.adaptations), "/cann/python"]
    assert (variables["ASCEND_TOOLKIT_HOME"], variables["ATB_HOME_PATH"]) == ("/cann", "/atb")
    assert variables["HOME"] == "/home/a"
    assert variables["CUDA_VISIBLE_DEVICES"] == "-1"
    assert variables["VLLM_HOST_IP"] == "127.0.0.1"
    assert whole.variables(CALLER | {"VLLM_HOST_IP": "::1"})["VLLM_HOST_IP"] == "::1"
    assert variables["HF_HUB_OFFLINE"] == variables["VLLM_NO_USAGE_STATS"] == "1"
    # torch's autoload is what loads torch-npu
    assert not {"PYTHONHOME", "TORCH_DEVICE_BACKEND_AUTOLOAD", "SHLVL", "_"} & variables.keys()
    # A user's own options for pytest would choose a stage's tests; without asserts they show nothing.
    assert not {"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONOPTIMIZE"} & variables.keys()


def test_npu_smi_is_found_where_a_container_has_it_after_all_else(whole: Environment, tmp_path: Path) -> None:
    assert str(tmp_path / "sbin") not in whole.variables(CALLER)["PATH"]
    whole.__dict__["provider"] = FakeProvider(replace(whole.cann, other_tools=(tmp_path / "sbin",)))
    assert whole.variables(CALLER)["PATH"].split(":")[-2:] == ["/usr/bin", str(tmp_path / "sbin")]


def test_without_adaptations_the_plugin_is_not_on_the_path(whole: Environment) -> None:
    assert str(whole.adaptations) in whole.variables(CALLER)["PYTHONPATH"]
    assert str(whole.adaptations) not in whole.variables(CALLER, adaptations=False)["PYTHONPATH"]


def test_a_build_must_not_load_torch_npu(whole: Environment) -> None:
    variables = whole.build_variables(CALLER)
    assert variables["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"
    assert variables["LD_LIBRARY_PATH"] == str(whole.cuda_standins)
    assert "PYTHONPATH" not in variables


def test_what_is_missing_is_told_with_what_to_type(whole: Environment) -> None:
    assert whole.missing() == []
    (whole.adaptations_folder / "complete.json").unlink()
    assert whole.missing() == ["adaptations"]
    with pytest.raises(
        UnusableError, match="small: adaptations not installed; type: npu-assay env install small"
    ):
        whole.variables(CALLER)
    whole.variables(CALLER, adaptations=False)
    (whole.root / "complete.json").unlink()
    with pytest.raises(UnusableError, match="small: venv not installed"):
        whole.variables(CALLER, adaptations=False)


def test_what_nothing_can_run_on_is_told_in_its_own_words(whole: Environment) -> None:
    whole.variables(CALLER)
    tree = replace(whole.cann, faults=("no driver -> install it", "no hal -> mount it"))
    whole.__dict__["provider"] = FakeProvider(tree)
    assert whole.missing() == []
    with pytest.raises(UnusableError, match=r"^no driver -> install it\nno hal -> mount it$"):
        whole.variables(CALLER)


def test_a_changed_plugin_is_another_folder(whole: Environment) -> None:
    before = whole.adaptations
    (whole.adaptations_source / "new.py").touch()
    assert whole.adaptations != before


@pytest.mark.environment
def test_the_real_environment_loads_torch_npu_by_itself(environment: Environment) -> None:
    show = "import torch; x = torch.ones(2, device='npu'); print((x + x).tolist(), torch.npu.is_available())"
    run = subprocess.run(
        [environment.python, "-c", show],
        env=environment.variables(os.environ),
        capture_output=True,
        text=True,
    )
    assert run.stdout == "[2.0, 2.0] True\n", run.stderr
