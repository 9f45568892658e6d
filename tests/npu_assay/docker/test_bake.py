"""docker-bake.hcl is what the locks ask for."""

import json
import re
import shutil
from pathlib import Path

import pytest

from npu_assay.docker import bake
from npu_assay.docker.targets import ImageTarget, image_targets
from npu_assay.environment.lock import load_lock, lock_names
from npu_assay.project import ENVIRONMENTS

TARGETS = {target.name: target for target in image_targets([load_lock(name) for name in lock_names()])}


def test_the_bake_file_is_not_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not bake.is_stale()
    other = tmp_path / "docker-bake.hcl"
    monkeypatch.setattr(bake, "BAKE_FILE", other)
    assert bake.is_stale()
    bake.main()
    assert not bake.is_stale()
    other.write_text(other.read_text().replace("9.0.0-910b", "9.0.0-A3"))
    assert bake.is_stale()


def test_every_lock_has_a_target_for_each_architecture_and_way_to_its_cann() -> None:
    ways: dict[str, set[str]] = {}
    for target in TARGETS.values():
        assert target.name.endswith(f"-{target.architecture}")
        ways.setdefault(target.variant.lock.name, set()).add(target.cann)
    everywhere = {"image", "run-packages"}
    hardware_only = {name for name in lock_names() if load_lock(name).content.hardware_only}
    assert hardware_only == {"cann851-vllm018"}
    assert ways == {
        name: everywhere if name in hardware_only else everywhere | {"emulated"} for name in lock_names()
    }
    named = re.findall(r'^target "(?!_)([^"]+)" \{$', bake.render(), re.MULTILINE)
    assert named == ["machine-x86_64", "machine-aarch64", *TARGETS]
    assert len(TARGETS) == 2 * sum(map(len, ways.values()))


@pytest.mark.parametrize(
    ("name", "tag", "chip", "device"),
    [
        ("cann900-vllm018-emulated-x86_64", None, None, "emulated"),
        ("cann900-vllm018-image-aarch64", "9.0.0-910b-ubuntu22.04-py3.11", "910b", "npu"),
        ("cann851-vllm018-image-x86_64", "8.5.1-910b-ubuntu22.04-py3.11", "910b", "npu"),
        ("cann900-vllm018-run-packages-x86_64", None, "910b", "npu"),
    ],
)
def test_a_target_starts_from_the_vendors_image_where_that_is_its_cann(
    name: str, tag: str | None, chip: str | None, device: str
) -> None:
    target = TARGETS[name]
    assert (target.vendor_tag, target.chip, target.device) == (tag, chip, device)


VENDOR = "cann900-vllm018-image-x86_64"


def recorded(locks: Path, digest: str) -> ImageTarget:
    """That target with an image in its lock."""
    shutil.copytree(ENVIRONMENTS, locks, dirs_exist_ok=True)
    path, before = locks / "cann900-vllm018.toml", "[components.cann]\n"
    image = f'image = {{ tag = "9.0.0-910b-openeuler24.03-py3.11", digest = "{digest}" }}\n'
    path.write_text((ENVIRONMENTS / path.name).read_text().replace(before, before + image))
    targets = image_targets([load_lock("cann900-vllm018", locks)])
    return next(target for target in targets if target.name == VENDOR)


def test_a_recorded_digest_is_taken_and_only_without_one_it_has_to_be_given(tmp_path: Path) -> None:
    digest = f"sha256:{'a' * 64}"
    target = recorded(tmp_path, digest)
    assert (target.vendor_tag, target.vendor_digest) == ("9.0.0-910b-openeuler24.03-py3.11", digest)
    assert target.obstacles == []
    given = f'CANN_DIGEST == "" ? "{digest}" : CANN_DIGEST'
    assert f'vendor_image("9.0.0-910b-openeuler24.03-py3.11", {given})\n' in bake.rendered([target])
    for without in (recorded(tmp_path, "unverified"), TARGETS[VENDOR]):
        assert without.vendor_digest is None
        assert f'vendor_image("{without.vendor_tag}", CANN_DIGEST)\n' in bake.rendered([without])
        (line,) = without.obstacles
        assert line == f"the vendor's image {without.vendor_tag}: no recorded digest; give one as CANN_DIGEST"


def test_labels_have_the_locks_hash_and_the_commits() -> None:
    target = TARGETS["cann900-vllm018-emulated-x86_64"]
    labels = target.labels
    assert labels["npu-assay.lock.sha256"] == load_lock("cann900-vllm018").sha256
    assert labels["npu-assay.commit.vllm-ascend"] == "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    assert labels["npu-assay.cann"] == "9.0.0 EMULATED"
    assert labels["org.opencontainers.image.description"].endswith("the CANN in here is emulated")
    hardware = TARGETS["cann900-vllm018-image-x86_64"].labels
    assert hardware["npu-assay.cann"] == "9.0.0 V100R001C10SPC001B250"
    assert "emulated" not in json.dumps(hardware)


def obstacles_in_the_file(target: ImageTarget) -> list[str]:
    """The comments above a target of the bake file."""
    above = re.search(rf'((?:^# .*\n)*)^target "{target.name}"', bake.render(), re.MULTILINE)
    assert above
    return [line.removeprefix("# Before it can be built: ") for line in above[1].splitlines()]


def test_what_has_to_be_done_before_a_build_stands_above_its_target() -> None:
    for target in TARGETS.values():
        assert obstacles_in_the_file(target) == target.obstacles
    assert TARGETS["cann900-vllm018-emulated-aarch64"].obstacles == []
    (triton, *packages) = TARGETS["cann900-vllm018-run-packages-aarch64"].obstacles
    assert triton.startswith("triton-ascend: its sha256 for aarch64 is unverified")
    assert packages[0] == "Ascend-cann-toolkit_9.0.0_linux-aarch64.run: no recorded sha256"
