"""`npu-assay build` as the stage of a run on an NPU: all that the compilers said, and what was made."""

import importlib
import json
import os
from pathlib import Path

import click
import pytest
from build_bench import Bench, make_venv, outside_path, plant_bench
from click.testing import CliRunner, Result
from small_lock import write_small_lock

from npu_assay.cann.discovery import ATB_VARIABLE, TOOLKIT_VARIABLES
from npu_assay.commands.soc_option import soc_option
from npu_assay.errors import AssayError
from npu_assay.source.archived import ArchivedSource, write_source

build_module = importlib.import_module("npu_assay.commands.build")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench, whose lock and cache the command takes."""
    for name in (*TOOLKIT_VARIABLES, ATB_VARIABLE, "MAX_JOBS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOC_VERSION", "ascend910b3")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "Ascend/cann"))
    monkeypatch.setenv("PATH", outside_path(tmp_path))
    monkeypatch.setenv("NPU_ASSAY_CACHE", str(tmp_path / "cache"))
    bench = plant_bench(tmp_path, make_venv(tmp_path / "venv"), write_small_lock(tmp_path / "locks"))
    monkeypatch.setattr(build_module, "load_lock", lambda name: bench.environment.lock)
    return bench


def stage(bench: Bench, archive: Path) -> Result:
    """What the stage `build` of a run does."""
    where = ArchivedSource(archive / "source")
    archive.mkdir()
    write_source(where, bench.build().tree, (), None)
    command = ["--device", "npu", "--archive", str(archive)]
    return CliRunner().invoke(build_module.build, command)


def test_the_log_has_what_the_compilers_said_and_the_archive_what_was_made(
    bench: Bench, tmp_path: Path
) -> None:
    result = stage(bench, tmp_path / "good")
    assert result.exit_code == 0, result.output
    assert "Building CXX object CMakeFiles/vllm_ascend_C.dir/csrc/binding.cpp.o" in result.output
    assert "how long that takes was never measured on hardware" in result.output
    made = json.loads((tmp_path / "good/source/build.json").read_text())
    assert made["compiled"]["soc"] == "ascend910b3"
    assert len(made["wheel_sha256"]) == 64
    assert len(made["compiled"]["edits"]) == 2

    bench.change("vllm-ascend/csrc/op/op.cpp", "return 1", "return nothing")
    result = stage(bench, tmp_path / "bad")
    assert isinstance(result.exception, AssayError)
    assert result.exception.exit_code == 1
    assert "error: " in str(result.exception)
    assert result.output.count("op.cpp:1:") >= 1, "the compiler's own words"
    assert not (tmp_path / "bad/source/build.json").exists()


def test_the_option_is_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    @click.command()
    @soc_option
    def command() -> None:
        seen.append(os.environ.get("SOC_VERSION"))

    monkeypatch.setenv("SOC_VERSION", "ascend910b1")
    assert CliRunner().invoke(command, []).exit_code == 0
    assert CliRunner().invoke(command, ["--soc-version", "ascend910b3"]).exit_code == 0
    assert seen == ["ascend910b1", "ascend910b3"]
