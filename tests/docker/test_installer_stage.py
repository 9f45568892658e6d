"""The Dockerfile's layers: every step, in an order that works, from a folder of just what is mounted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dockerfile_parts import chain

from npu_assay.docker.dockerfile import read_stages
from npu_assay.environment.lock import Kind, load_lock, lock_names
from npu_assay.environment.steps import steps_of
from npu_assay.environment.variant import Variant
from npu_assay.project import ROOT

LOCK = "cann900-vllm018"


def lay_out(stage: str, folder: Path) -> None:
    """Copy what a stage and those that it starts from copy."""
    for part in chain(stage, {}):
        for sources, target in part.copies:
            for pattern in sources:
                for source in sorted(ROOT.glob(pattern.replace("${LOCK}", LOCK))):
                    place = folder / target
                    if source.is_dir():
                        shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
                    else:
                        place.mkdir(parents=True, exist_ok=True)
                        shutil.copy(source, place)


def npu_assay(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run npu-assay from the sources in that folder."""
    variables = {**os.environ, "PYTHONPATH": str(folder / "src"), "NPU_ASSAY_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "npu_assay", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("stage", "arguments", "said", "needed"),
    [
        (
            "installer",
            ["env", "install", LOCK, "--device", "npu", "--step", "nonesuch"],
            "no step 'nonesuch'; there are system, cann, nnal, python, torch",
            "environment/steps/triton.py",
        ),
        (
            "cann-installer",
            ["cann", "install", LOCK, "--from", ".", "--accept-licence"],
            "Ascend-cann-toolkit_9.0.0_linux-",
            "evidence/cann_files.py",
        ),
        (
            "builder",
            ["build", "--environment", LOCK, "--vllm-ascend", "nonesuch"],
            "--vllm-ascend nonesuch: no such folder or file",
            "source/working_tree.py",
        ),
    ],
)
def test_what_is_mounted_is_all_that_is_imported(
    stage: str, arguments: list[str], said: str, needed: str, tmp_path: Path
) -> None:
    lay_out(stage, tmp_path)
    ended = npu_assay(tmp_path, *arguments)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    (tmp_path / "src/npu_assay" / needed).unlink()
    ended = npu_assay(tmp_path, *arguments)
    assert "Error: " in ended.stderr.splitlines()[-1]
    assert Path(needed).stem in ended.stderr.splitlines()[-1]


def test_a_step_runs_from_what_is_mounted(tmp_path: Path) -> None:
    lay_out("installer", tmp_path)
    ended = npu_assay(tmp_path, "env", "install", LOCK, "--device", "emulated", "--step", "system")
    assert (ended.returncode, ended.stderr.split()[:1]) == (0, ["system"])
    (stamp,) = (tmp_path / "cache").glob("environments/*/steps/system.json")
    assert stamp.stat().st_size > 0


def test_what_changes_often_is_not_there_in_slow_steps() -> None:
    before = [stage for name, stage in read_stages().items() if name != "image"]
    read = [
        line
        for stage in before
        for line in stage.instructions
        if stage.name not in ("installer", "cann-installer", "builder", "fetched-launcher")
        and (line.startswith("COPY ") or "type=bind,source=" in line)
    ]
    (launcher, *steps) = (line for line in read if "source=docker/apt-settings," not in line)
    assert launcher == "COPY assay pyproject.toml requirements.txt ./"
    assert steps
    assert all("source=src/emucann," in line for line in steps)
    copied = [source for stage in before for sources, _ in stage.copies for source in sources]
    assert [source for source in copied if "vllm_ascend_params" in source or source in ("src", "ci")] == []
    (*_, image) = read_stages().values()
    assert (["src"], "/opt/npu-assay/src") in image.copies


ALL_KINDS: list[tuple[str, Kind]] = [
    (name, kind)
    for name in lock_names()
    for kind in (("hardware",) if load_lock(name).content.hardware_only else ("emulated", "hardware"))
]


def order_faults(order: list[str], variant: Variant) -> list[str]:
    """Steps that are missing, unknown, or come before one that they need."""
    steps = {step.name: step for step in steps_of(variant)}
    faults = [f"missing: {name}" for name in steps if name not in order]
    for place, name in enumerate(order):
        if name not in steps:
            faults.append(f"unknown: {name}")
            continue
        faults += [f"{name} before {need}" for need in steps[name].needs if need not in order[:place]]
    return faults


@pytest.mark.parametrize(("name", "kind"), ALL_KINDS)
def test_the_layers_are_the_steps_in_an_order_that_works(name: str, kind: Kind) -> None:
    variant = Variant.of(load_lock(name), kind)
    device, cann = ("emulated", "emulated") if kind == "emulated" else ("npu", "image")
    arguments = {"DEVICE": device, "CANN": cann, "IMAGE": "runtime", "CANN_IMAGE": "", "BASE": ""}
    order = [step for stage in chain("image", arguments) for step in stage.steps]
    assert order_faults(order, variant) == []
    assert len(order) == len(set(order))
    assert "python before system" in order_faults(["python", *order[:-1]], variant)
    assert "missing: adaptations" in order_faults(order[:-1], variant)
