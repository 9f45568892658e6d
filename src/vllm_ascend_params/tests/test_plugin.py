"""The entry point: when it acts, when it refuses, and that importing does neither."""

import importlib.metadata
import logging
import subprocess
import sys
from pathlib import Path

import pytest
import vllm.config
from vllm.config import VllmConfig

from vllm_ascend_params import compatibility, plugin
from vllm_ascend_params.compatibility import departures

REQUIREMENTS = ["vllm>=0.18.0rc1,<0.19", "vllm-ascend>=0.18.0rc1,<0.19"]


@pytest.fixture
def registering(monkeypatch: pytest.MonkeyPatch, stock_config: type[VllmConfig]) -> type[VllmConfig]:
    """The config class that `register` will meet."""
    monkeypatch.setattr(vllm.config, "VllmConfig", stock_config)
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: REQUIREMENTS)
    return stock_config


def acts_on(config_class: type[VllmConfig]) -> bool:
    return "__post_init__" in vars(config_class)


def test_it_acts_once(registering: type[VllmConfig]) -> None:
    assert not acts_on(registering)
    plugin.register()
    assert acts_on(registering)
    once = registering.__post_init__
    plugin.register()
    assert registering.__post_init__ is once


@pytest.mark.parametrize("version", [None, "0.17.0", "0.19.0", "0.22.1rc1"])
def test_beside_another_vllm_ascend_it_warns_and_does_nothing(
    registering: type[VllmConfig],
    monkeypatch: pytest.MonkeyPatch,
    version: str | None,
) -> None:
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("vllm.vllm_ascend_params")
    logger.addHandler(handler)
    monkeypatch.setattr(
        compatibility.importlib.metadata,
        "version",
        lambda name: "0.18.0" if name == "vllm" else _raise_or(version),
    )
    try:
        plugin.register()
    finally:
        logger.removeHandler(handler)
    assert not acts_on(registering)
    assert len(said) == 1
    assert "vllm-ascend" in said[0]
    assert (version or "isn't installed") in said[0]


def _raise_or(version: str | None) -> str:
    if version is None:
        raise importlib.metadata.PackageNotFoundError("vllm-ascend")
    return version


@pytest.mark.parametrize("version", ["0.18.0", "0.18.0rc1", "0.18.0+empty", "0.18.1.dev3+g0123abc", "0.18.5"])
def test_every_0_18_is_right(version: str) -> None:
    assert departures(REQUIREMENTS, lambda name: version) == []


@pytest.mark.parametrize("version", ["0.17.3", "0.19.0rc1", "0.19.0", "1.0"])
def test_any_other_is_named_with_what_was_expected(version: str) -> None:
    found = departures(REQUIREMENTS, lambda name: version)
    assert [phrase.split(" is ")[0] for phrase in found] == ["vllm", "vllm-ascend"]
    assert all(version in phrase and "expected" in phrase for phrase in found)


def test_the_metadata_names_the_versions_that_the_tests_name() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert all(f'"{requirement}"' in text for requirement in REQUIREMENTS)


def test_importing_every_module_changes_nothing() -> None:
    package = Path(plugin.__file__).parent
    modules = [f"vllm_ascend_params.{path.stem}" for path in sorted(package.glob("[!_]*.py"))]
    assert "vllm_ascend_params.handlers" in modules
    script = f"""
from vllm.config import VllmConfig
from vllm.v1.kv_offload.factory import OffloadingSpecFactory

def state():
    return VllmConfig.__post_init__, dict(OffloadingSpecFactory._registry)

before = state()
import {", ".join(modules)}
assert state() == before
vllm_ascend_params.kv_offloading.install(VllmConfig)
assert state() != before, "this test would not notice"
print("nothing changed")
"""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=package.parent, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[-1:] == ["nothing changed"], run.stderr
