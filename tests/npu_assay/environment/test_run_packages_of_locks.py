"""What the locks say of the vendor's run packages."""

from dataclasses import replace

import pytest

from npu_assay.cann.agreement import Part
from npu_assay.environment.lock import load_lock, lock_names
from npu_assay.environment.run_packages import wanted_packages
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError


@pytest.mark.parametrize("name", lock_names())
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_every_lock_names_the_three_in_their_order(name: str, architecture: str) -> None:
    wanted = wanted_packages(Variant.of(load_lock(name), "hardware"), architecture)
    assert [package.part for package in wanted.packages] == [Part.TOOLKIT, Part.OPS, Part.NNAL]
    version = wanted.packages[0].version
    assert [package.file for package in wanted.packages] == [
        f"Ascend-cann-{what}_{version}_linux-{architecture}.run" for what in ("toolkit", "910b-ops", "nnal")
    ]
    assert [package.chip for package in wanted.packages] == [None, "910b", None]
    assert wanted.expected.command == f"npu-assay cann install {name}"
    assert wanted.record == f"npu-assay env lock {name} --record"


def test_a_recorded_hash_is_this_machine_s_and_tells_others_apart() -> None:
    lock = load_lock("cann900-vllm018")
    variant = Variant.of(lock, "hardware")
    assert wanted_packages(variant, "aarch64").packages[0].sha256 is None
    cann = variant.component("cann")
    recorded = cann.model_copy(update={"sha256": {"x86_64": "a" * 64, "aarch64": "b" * 64}})
    known = replace(variant, components={**variant.components, "cann": recorded})
    [toolkit, *_] = wanted_packages(known, "aarch64").packages
    assert (toolkit.sha256, toolkit.elsewhere) == ("b" * 64, {"x86_64": "a" * 64})
    only = cann.model_copy(update={"sha256": {"x86_64": "a" * 64}})
    lacking = replace(variant, components={**variant.components, "cann": only})
    with pytest.raises(UnusableError, match=r"components\.cann\.sha256 has no aarch64, only x86_64"):
        wanted_packages(lacking, "aarch64")
