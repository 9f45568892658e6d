"""Real torch-npu on the emulator: the checks in torch_npu/, run by the environment's pytest."""

import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment

CHECKS = Path(__file__).parent / "torch_npu"

#: Of the emulated devices, as the checks expect them.
DEVICES = {"EMUCANN_DEVICES": "2", "EMUCANN_MEMORY_MB": "256"}

#: torch-npu hands ops to a thread of its own, or calls CANN at once; its allocator has two ways, too.
WAYS = {
    "queue": {"TASK_QUEUE_ENABLE": "1"},
    "no-queue": {"TASK_QUEUE_ENABLE": "0", "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"},
}


@pytest.mark.environment
@pytest.mark.parametrize(
    ("fixture", "way"),
    [
        *(("environment", way) for way in WAYS),
        pytest.param("torch210", "queue", marks=pytest.mark.xdist_group("torch210")),
        pytest.param("vllm0221", "queue", marks=pytest.mark.xdist_group("vllm0221")),
    ],
)
def test_checks(request: pytest.FixtureRequest, tmp_path: Path, fixture: str, way: str) -> None:
    environment: Environment = request.getfixturevalue(fixture)
    junit = tmp_path / "junit.xml"
    finished = subprocess.run(
        [
            *(environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-c", CHECKS / "pytest.ini", f"--junit-xml={junit}", *sorted(CHECKS.glob("*_checks.py"))),
        ],
        cwd=tmp_path,
        env=environment.variables(adaptations=False) | DEVICES | WAYS[way],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-8000:]
    (suite,) = ElementTree.parse(junit).iter("testsuite")
    assert suite.attrib["skipped"] == "0"
    files = {case.attrib["classname"].split(".")[0] for case in suite.iter("testcase")}
    assert files == {path.stem for path in CHECKS.glob("*_checks.py")}
