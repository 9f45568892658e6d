"""Builds the rooms' GoogleTest tests against the environment's headers and runs them, all."""

import os
import subprocess
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment

SOURCE = Path(__file__).parents[2] / "src" / "emucann"

pytestmark = pytest.mark.environment


def run(*command: str, **variables: str) -> str:
    """Output of a command that must succeed; the test's failure shows all of it."""
    result = subprocess.run(
        command,
        env=os.environ | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_rooms(environment: Environment, tmp_path: Path) -> None:
    build, site = tmp_path / "build", environment.site_packages
    run(
        *("cmake", "-S", str(SOURCE), "-B", str(build), "-DBUILD_TESTING=ON"),
        f"-DEMUCANN_TORCH_DIR={site / 'torch'}",
        f"-DEMUCANN_TORCH_NPU_DIR={site / 'torch_npu'}",
        f"-DEMUCANN_VLLM_ASCEND_DIR={site / 'vllm_ascend'}",
        f"-DEMUCANN_PYTHON={environment.python}",
    )
    run("cmake", "--build", str(build), "--target", "emucann_tests", "--parallel", "2")
    # The ops' tests need libtorch, which PyPI's x86-64 build only loads with the stand-ins for CUDA.
    libraries = os.pathsep.join([str(environment.cuda_standins), str(site / "torch" / "lib")])
    command = [
        "ctest",
        "--test-dir",
        str(build),
        "--output-on-failure",
        "--no-tests=error",
        "--parallel",
        "2",
    ]
    assert "100% tests passed" in run(*command, LD_LIBRARY_PATH=libraries)
