"""What the last layer of an image writes, from the arguments of its build."""

import os
import subprocess
import sys

import pytest
from dockerfile_parts import chain

from npu_assay.docker.description import description
from npu_assay.docker.targets import image_targets
from npu_assay.environment.lock import load_lock, lock_names
from npu_assay.errors import UsageError

ARGUMENTS = {
    "LOCK": "cann900-vllm018",
    "CANN": "emulated",
    "DEVICE": "emulated",
    "IMAGE": "runtime",
    "BASE": "debian:bookworm-slim",
    "CANN_IMAGE": "no-vendor-image",
    "REVISION": "",
}


def test_every_image_says_what_its_labels_say() -> None:
    targets = list(image_targets([load_lock(name) for name in lock_names()]))
    assert targets
    for target in targets:
        arguments = {"LOCK": target.variant.lock.name, "CANN": target.cann, "DEVICE": target.device}
        found = description(ARGUMENTS | arguments, target.architecture)
        labels = target.labels
        assert found.target == target.name
        assert (found.lock, found.lock_sha256) == (labels["npu-assay.lock"], labels["npu-assay.lock.sha256"])
        assert (found.device, found.cann) == (labels["npu-assay.device"], labels["npu-assay.cann"])
        assert {f"npu-assay.commit.{name}" for name in found.commits} <= labels.keys()


def test_base_revision_and_kind_are_what_the_build_was_given() -> None:
    found = description(ARGUMENTS | {"IMAGE": "dev", "REVISION": "a" * 40}, "x86_64")
    assert (found.kind, found.revision, found.base) == ("dev", "a" * 40, "debian:bookworm-slim")
    assert description(ARGUMENTS, "x86_64").revision is None
    vendors = {"CANN": "image", "DEVICE": "npu", "CANN_IMAGE": "cann:9.0.0@sha256:0"}
    assert description(ARGUMENTS | vendors, "aarch64").base == "cann:9.0.0@sha256:0"


@pytest.mark.parametrize(
    "wrong", [{"CANN": "image"}, {"DEVICE": "npu"}, {"CANN": "nonesuch"}, {"LOCK": "cann851-vllm018"}]
)
def test_an_image_that_is_none_is_refused(wrong: dict[str, str]) -> None:
    assert description(ARGUMENTS, "x86_64")
    with pytest.raises(UsageError, match=r"no image cann\S+ for --device \S+ is made of"):
        description(ARGUMENTS | wrong, "x86_64")


def test_the_dockerfiles_last_layer_gives_it_all_arguments() -> None:
    (*_, image) = chain("image", {"DEVICE": "emulated", "CANN": "emulated", "IMAGE": "runtime", "BASE": ""})
    command = ".venv/bin/python -m npu_assay.docker.description >image.json"
    assert f"RUN {command}" in image.instructions
    before = image.instructions[: image.instructions.index(f"RUN {command}")]
    declared = {line.split()[1].partition("=")[0] for line in before if line.startswith("ARG ")}
    assert declared | {"LOCK", "DEVICE"} == ARGUMENTS.keys()


def test_it_is_printed_and_a_fault_is_one_line() -> None:
    command = [sys.executable, "-m", "npu_assay.docker.description"]

    def run(**changes: str) -> subprocess.CompletedProcess[str]:
        variables = os.environ | ARGUMENTS | changes
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    assert '"target": "cann900-vllm018-emulated-' in run().stdout
    ended = run(CANN="nonesuch")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("npu-assay: no image cann900-vllm018-nonesuch-")
    assert len(ended.stderr.splitlines()) == 1
