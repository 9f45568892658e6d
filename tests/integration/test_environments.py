"""The environments on torch 2.10 run their pipelines on the emulator, from the command line."""

import subprocess
import sys
from pathlib import Path

import pytest
from suite_run import run_suite

from npu_assay.environment.environment import Environment
from npu_assay.evidence.jsonlines import read_rows

pytestmark = [pytest.mark.environment, pytest.mark.e2e]

#: Every plug-in of vllm-ascend 0.22.1rc1, and none of the emulator's.
WITHOUT_THE_EMULATORS_PLUGIN = ",".join(
    ("ascend", "ascend_kv_connector", "ascend_model", "ascend_model_loader", "ascend_service_profiling")
)


def run_pipeline(environment: Environment, pipeline: str, archive: Path) -> str:
    """Run it, and return what was printed."""
    options = ["--environment", environment.name, "--pipeline", pipeline, "--device", "emulated"]
    ended = subprocess.run(
        [sys.executable, "-m", "npu_assay", "run", *options, "--out", archive],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout[-4000:]}{ended.stderr[-2000:]}"
    return ended.stdout


@pytest.mark.xdist_group("torch210")
def test_kv_offload_on_torch_2_10(torch210: Environment, tmp_path: Path) -> None:
    said = run_pipeline(torch210, "kv-offload", tmp_path / "run")
    assert "verdict: EMULATED pass" in said
    rows = list(read_rows(tmp_path / "run" / "results" / "kv-offload.jsonl"))
    assert [row.values["external_cached_tokens"] for row in rows] == [256, 256, 256]
    manifest = (tmp_path / "run" / "manifest.json").read_text()
    assert "in its place is one that is compiled here from the source distribution" in manifest


@pytest.mark.xdist_group("vllm0221")
def test_the_engine_of_vllm_0_22_1(vllm0221: Environment, tmp_path: Path) -> None:
    said = run_pipeline(vllm0221, "engine", tmp_path / "run")
    assert "verdict: EMULATED pass" in said
    rows = list(read_rows(tmp_path / "run" / "results" / "tokens-equal-cpu.jsonl"))
    assert len(rows) == 3
    assert all(row.values["npu_token_ids"] == row.values["cpu_token_ids"] for row in rows)


@pytest.mark.xdist_group("vllm0221")
def test_the_engine_of_vllm_0_22_1_needs_what_stands_for_its_triton_kernel(
    vllm0221: Environment, tmp_path: Path
) -> None:
    variables = vllm0221.variables() | {"VLLM_PLUGINS": WITHOUT_THE_EMULATORS_PLUGIN}
    run = run_suite(vllm0221.python, variables, "engine", tmp_path, None, "-x")
    assert run.returncode == 1, run.log
    assert "'function' object is not subscriptable" in run.log
