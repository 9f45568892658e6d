"""Real torch-npu on the emulator: the checks in torch_npu/, each file run by the environment's pytest."""

import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment

CHECKS = Path(__file__).parent / "torch_npu"

#: torch-npu hands ops to a thread of its own, or calls CANN at once: both are used.
QUEUE_ON, QUEUE_OFF = {"TASK_QUEUE_ENABLE": "1"}, {"TASK_QUEUE_ENABLE": "0"}

RUNS = [
    ("devices", QUEUE_ON | {"EMUCANN_DEVICES": "2", "EMUCANN_MEMORY_MB": "256"}),
    ("memory", QUEUE_ON | {"EMUCANN_MEMORY_MB": "256"}),
    (
        "memory",
        QUEUE_OFF | {"EMUCANN_MEMORY_MB": "256", "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"},
    ),
    ("streams", QUEUE_ON),
    ("streams", QUEUE_OFF),
    ("errors", QUEUE_ON),
    ("errors", QUEUE_OFF),
    ("random", QUEUE_ON),
    ("aten", QUEUE_ON),
    ("fused", QUEUE_ON),
    ("fused", QUEUE_OFF),
]


@pytest.mark.environment
@pytest.mark.parametrize(
    ("checks", "variables"), RUNS, ids=[f"{name}-queue-{run['TASK_QUEUE_ENABLE']}" for name, run in RUNS]
)
def test_checks(environment: Environment, tmp_path: Path, checks: str, variables: dict[str, str]) -> None:
    junit = tmp_path / "junit.xml"
    finished = subprocess.run(
        [
            *(environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-config"),
            *("-c", CHECKS / "pytest.ini", f"--junit-xml={junit}", CHECKS / f"{checks}_checks.py"),
        ],
        cwd=tmp_path,
        env=environment.variables(adaptations=False) | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-8000:]
    (suite,) = ElementTree.parse(junit).iter("testsuite")
    assert int(suite.attrib["tests"]) > 0
    assert suite.attrib["skipped"] == "0"


def test_every_file_of_checks_is_run() -> None:
    assert {f"{name}_checks.py" for name, _ in RUNS} == {path.name for path in CHECKS.glob("*_checks.py")}
