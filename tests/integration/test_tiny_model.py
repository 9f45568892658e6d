"""The tiny model is the same bytes for the same seed, whatever the process."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from suite_run import SUITES

from npu_assay.environment.environment import Environment

pytestmark = pytest.mark.environment


def make(
    environment: Environment, seeds: dict[Path, int], hash_seed: str, threads: str
) -> list[dict[str, str]]:
    """Make models in one process, and return the sha256 of each one's files."""
    variables = environment.variables() | {"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": threads}
    variables["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # no NPU is used
    calls = [f"tiny_model.make(Path({str(folder)!r}), {seed})" for folder, seed in seeds.items()]
    script = "; ".join(["from pathlib import Path", "import tiny_model", *calls])
    subprocess.run(
        [environment.python, "-c", script],
        cwd=SUITES,
        env=variables,
        check=True,
        capture_output=True,
        timeout=300,
    )
    return [
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}
        for folder in seeds
    ]


def test_same_seed_same_bytes_other_seed_other_weights_and_words(
    environment: Environment, tmp_path: Path
) -> None:
    first, other = make(
        environment, {tmp_path / "first": 0, tmp_path / "other": 1}, hash_seed="1", threads="1"
    )
    (again,) = make(environment, {tmp_path / "again": 0}, hash_seed="2", threads="2")
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(first)
    assert again == first
    assert {name for name in first if other[name] != first[name]} == {"model.safetensors", "tokenizer.json"}
