"""The suite versions-and-paths prints what is there, and fails where something is not as it must be."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from suite_run import SUITES, stage_variables

from npu_assay.environment.environment import Environment

pytestmark = pytest.mark.environment


def run(
    environment: Environment, archive: Path, variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    command = [environment.python, SUITES / "versions_and_paths.py"]
    variables = stage_variables(archive) | variables
    return subprocess.run(command, env=variables, cwd=archive, capture_output=True, text=True, timeout=300)


def test_versions_paths_and_the_cann_that_is_loaded(environment: Environment, tmp_path: Path) -> None:
    finished = run(environment, tmp_path, environment.variables())
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    maps = [line.removeprefix("process-map: ") for line in lines if line.startswith("process-map: ")]
    assert {Path(path).name.split(".so")[0] for path in maps} >= {"libascendcl", "libopapi", "libhccl"}
    (identity,) = (
        line.removeprefix("cann-identity: ") for line in lines if line.startswith("cann-identity: ")
    )
    assert not identity.startswith("hardware")
    facts = json.loads((tmp_path / "environment.json").read_text())
    assert facts["cann_identity"] == identity
    assert facts["process_map"] == maps
    assert facts["device"]["kind"] == "emulated"
    for package in facts["packages"]:
        assert f"{package['name']} {package['version']} {package['path']}" in lines


def test_a_triton_distribution_beside_triton_ascend_is_refused(
    environment: Environment, tmp_path: Path
) -> None:
    metadata = tmp_path / "site" / "triton-3.4.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: triton\nVersion: 3.4.0\n")
    variables = environment.variables()
    path = os.pathsep.join([str(tmp_path / "site"), variables["PYTHONPATH"]])
    finished = run(environment, tmp_path, variables | {"PYTHONPATH": path})
    assert finished.returncode == 1
    assert "triton 3.4.0 is installed beside triton-ascend" in finished.stderr.splitlines()[-1]
    assert not (tmp_path / "environment.json").exists()


def test_a_missing_plugin_is_named(environment: Environment, tmp_path: Path) -> None:
    finished = run(environment, tmp_path, environment.variables(adaptations=False))
    assert finished.returncode == 1
    assert "vllm_ascend_params is not installed" in finished.stderr.splitlines()[-1]


def test_an_emulated_cann_does_not_pass_for_hardware(environment: Environment, tmp_path: Path) -> None:
    hardware = environment.variables() | {"NPU_ASSAY_DEVICE_KIND": "hardware"}
    finished = run(environment, tmp_path, hardware)
    assert finished.returncode == 1
    assert (
        "this stage runs for hardware, but the CANN that is loaded says" in finished.stderr.splitlines()[-1]
    )
