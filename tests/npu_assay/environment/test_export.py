"""An environment in other tools' formats: what they are given is what the lock says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from npu_assay.environment.export import constraints, requirements
from npu_assay.environment.lock import Kind, load_lock, lock_names
from npu_assay.environment.requirements import read_pins
from npu_assay.environment.sbom import sbom
from npu_assay.environment.variant import Variant

VARIANTS = [
    Variant.of(load_lock(name), kind)
    for name in lock_names()
    for kind in ("hardware", "emulated")
    if kind == "hardware" or not load_lock(name).content.hardware_only
]


def variant(kind: Kind, name: str = "cann900-vllm018") -> Variant:
    return Variant.of(load_lock(name), kind)


def test_constraints_have_every_version_and_no_hash() -> None:
    lines = constraints(variant("emulated")).splitlines()
    assert lines[0].startswith("# cann900-vllm018 (emulated), from the lock with sha256 ")
    assert "torch-npu==2.9.0.post2" in lines
    assert "triton-ascend==3.2.0" in lines
    assert not [line for line in lines if "sha256:" in line or line.startswith("cann")]
    assert len(lines) == 1 + 6 + len(read_pins(load_lock().requirements_file))
    assert (
        "vllm-ascend @ git+https://github.com/vllm-project/vllm-ascend@e18643f8a4d5bd9990727654318ad069ea0b56e2"
        in constraints(variant("hardware")).splitlines()
    )


@pytest.mark.parametrize("one", VARIANTS, ids=lambda variant: variant.key)
def test_pip_takes_the_constraints(one: Variant, tmp_path: Path) -> None:
    file = tmp_path / "constraints.txt"
    file.write_text(constraints(one))
    # pip, which is installed, is asked for under the constraints, so that it reads all and does nothing.
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--dry-run", "-c", str(file), "pip"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_requirements_are_read_back_as_the_pins_they_came_from(tmp_path: Path) -> None:
    one = variant("emulated")
    file = tmp_path / "requirements.txt"
    file.write_text(requirements(one, "aarch64"))
    pins = {pin.name: pin for pin in read_pins(file)}
    assert {pins[pin.name] for pin in read_pins(one.lock.requirements_file)} < {*pins.values()}
    assert pins["torch"].sha256 == {one.component("torch").sha256["aarch64"]}
    assert pins["vllm"].sha256 == {one.component("vllm").sha256["sdist"]}


def test_what_has_no_hash_is_a_comment_that_says_why() -> None:
    text = requirements(variant("hardware", "cann851-vllm018"), "x86_64")
    assert "\n# triton-ascend==3.2.0.dev20260322: its sha256 for x86_64 is unverified\n" in text
    assert "\n# vllm-ascend: built from https://github.com/vllm-project/vllm-ascend at 72dc6897" in text


def _bill(one: Variant) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(sbom(one, "x86_64"))
    return document


@pytest.mark.parametrize("one", VARIANTS, ids=lambda variant: variant.key)
def test_an_sbom_is_valid_and_always_the_same(one: Variant) -> None:
    text = sbom(one, "x86_64")
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert sbom(one, "x86_64") == text
    broken = json.loads(text)
    broken["components"][0]["nmae"] = "x"
    assert validator.validate_str(json.dumps(broken)) is not None


def test_an_sbom_names_every_component_and_requirement() -> None:
    one = variant("hardware")
    bill = _bill(one)
    names = {component["name"] for component in bill["components"]}
    assert names == {*one.components, *(pin.name for pin in read_pins(one.lock.requirements_file))}
    by_name = {component["name"]: component for component in bill["components"]}
    assert by_name["torch"]["purl"] == "pkg:pypi/torch@2.9.0"
    assert by_name["torch"]["hashes"] == [
        {"alg": "SHA-256", "content": one.component("torch").sha256["x86_64"]}
    ]
    assert by_name["cann"]["purl"] == "pkg:generic/cann@9.0.0?build=V100R001C10SPC001B250"
    assert "hashes" not in by_name["cann"]
    assert {"name": "npu-assay:sha256", "value": "unverified"} in by_name["cann"]["properties"]
    assert "vcs_url=git%2Bhttps" in by_name["vllm-ascend"]["purl"]


def test_two_architectures_are_two_bills() -> None:
    one = variant("emulated")
    first, second = json.loads(sbom(one, "x86_64")), json.loads(sbom(one, "aarch64"))
    assert first["serialNumber"] != second["serialNumber"]
