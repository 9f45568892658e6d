"""The tiny model is the same bytes for the same seed, whatever the process."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from suite_run import SUITES

from npu_assay.environment.environment import Environment

pytestmark = pytest.mark.environment


def make(environment: Environment, folder: Path, seed: int, hash_seed: str, threads: str) -> dict[str, str]:
    """Make the model, and return the sha256 of each of its files."""
    variables = environment.variables() | {"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": threads}
    variables["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # no NPU is used
    command = [environment.python, SUITES / "tiny_model.py", folder, "--seed", str(seed)]
    subprocess.run(command, env=variables, check=True, capture_output=True, timeout=300)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def test_same_seed_same_bytes_other_seed_other_weights_and_words(
    environment: Environment, tmp_path: Path
) -> None:
    first = make(environment, tmp_path / "first", seed=0, hash_seed="1", threads="1")
    again = make(environment, tmp_path / "again", seed=0, hash_seed="2", threads="2")
    other = make(environment, tmp_path / "other", seed=1, hash_seed="1", threads="1")
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(first)
    assert again == first
    assert {name for name in first if other[name] != first[name]} == {"model.safetensors", "tokenizer.json"}
