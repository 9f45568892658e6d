"""The CPU engine's environment: its key, what it preloads. A benchmark run shows that it installs."""

import platform
from pathlib import Path

import cpu_engine
import pytest
from cpu_engine import CpuEngine

from npu_assay.environment.lock import load_lock
from npu_assay.errors import UnusableError


def test_other_requirements_are_another_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = CpuEngine.of(load_lock(), tmp_path)
    assert first == CpuEngine.of(load_lock(), tmp_path)
    assert not first.is_made()
    other = tmp_path / "requirements.txt"
    other.write_text(cpu_engine.REQUIREMENTS.read_text() + "another==1\n")
    monkeypatch.setattr(cpu_engine, "REQUIREMENTS", other)
    assert CpuEngine.of(load_lock(), tmp_path).root != first.root


def test_what_its_worker_wants_is_preloaded_and_a_lack_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = CpuEngine.of(load_lock(), tmp_path)
    monkeypatch.setattr(cpu_engine, "find_library", lambda name: f"lib{name}.so.4")
    preloaded = engine.variables()["LD_PRELOAD"].split(":")
    assert preloaded[0] == "libtcmalloc_minimal.so.4"
    assert [Path(path).name for path in preloaded[1:]] == ["libiomp5.so"] * (platform.machine() == "x86_64")
    monkeypatch.setattr(cpu_engine, "find_library", lambda name: None)
    with pytest.raises(UnusableError, match="type: apt-get install libtcmalloc-minimal4"):
        engine.variables()
