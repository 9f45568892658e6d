"""The lock's source distribution, where an installation has put it."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from npu_assay.environment.ascend_build.locked import locked_sdist
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock
from npu_assay.errors import UnusableError

DATA = b"a source distribution"


def environment_with(data: bytes, cache: Path) -> Environment:
    """An environment whose lock wants a distribution of DATA, and whose folder has one of `data`."""
    environment = Environment.of(load_lock("cann900-vllm018"), "emulated", cache)
    components = dict(environment.variant.components)
    wanted = {**components["vllm-ascend"].sha256, "sdist": hashlib.sha256(DATA).hexdigest()}
    components["vllm-ascend"] = components["vllm-ascend"].model_copy(update={"sha256": wanted})
    environment = replace(environment, variant=replace(environment.variant, components=components))
    (environment.root / "sdist").mkdir(parents=True)
    (environment.root / "sdist" / "vllm_ascend-0.18.0.tar.gz").write_bytes(data)
    return environment


def test_one_that_is_there_is_taken_without_writing_anything(tmp_path: Path) -> None:
    environment = environment_with(DATA, tmp_path / "installed")
    before = sorted(environment.root.rglob("*"))
    assert locked_sdist(environment).read_bytes() == DATA
    assert sorted(environment.root.rglob("*")) == before  # in an image it may all be read-only
    other = environment_with(b"something else", tmp_path / "changed")
    with pytest.raises(
        UnusableError, match="pip download of the source distribution"
    ):  # there is no pip here
        locked_sdist(other)
    assert not [*other.root.rglob("*.tar.gz")]
