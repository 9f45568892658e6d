"""The step adaptations makes a folder for PYTHONPATH from our plug-in, with its entry points."""

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.adaptations import STEP
from npu_assay.errors import UnusableError

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "small-plugin"
version = "1.0"

[project.entry-points."vllm.general_plugins"]
small = "small_plugin:register"

[tool.setuptools]
packages = ["small_plugin"]
"""


def silent(line: str) -> None:
    raise AssertionError(f"nothing to wait for, but: {line}")


@pytest.fixture
def environment_with_plugin(with_venv: Environment, tmp_path: Path) -> Environment:
    """A venv and the sources of a plug-in."""
    source = tmp_path / "plugin"
    (source / "small_plugin").mkdir(parents=True)
    (source / "pyproject.toml").write_text(PYPROJECT)
    (source / "small_plugin" / "__init__.py").write_text("def register(): return 1\n")
    return replace(with_venv, adaptations_source=source)


def test_the_plugin_is_installed_with_its_entry_points(environment_with_plugin: Environment) -> None:
    environment = environment_with_plugin
    assert STEP.done
    assert not STEP.done(environment)
    before = sorted(environment.adaptations_source.rglob("*"))
    STEP.run(environment, silent)
    assert STEP.done(environment)
    assert sorted(environment.adaptations_source.rglob("*")) == before, "nothing is left in the sources"
    [found] = distributions(path=[str(environment.adaptations)])
    assert [(e.group, e.name, e.value) for e in found.entry_points] == [
        ("vllm.general_plugins", "small", "small_plugin:register")
    ]
    load = "import small_plugin; print(small_plugin.register())"
    run = subprocess.run(
        [sys.executable, "-c", load],
        env={"PYTHONPATH": str(environment.adaptations)},
        capture_output=True,
        text=True,
    )
    assert run.stdout == "1\n", run.stderr


def test_a_plugin_that_does_not_build_is_told_with_its_log(environment_with_plugin: Environment) -> None:
    environment = environment_with_plugin
    (environment.adaptations_source / "pyproject.toml").write_text(
        PYPROJECT.replace('"1.0"', '"not a version"')
    )
    with pytest.raises(UnusableError, match=r"^step adaptations: pip install failed \(1\): .*install\.log$"):
        STEP.run(environment, silent)
    assert (environment.adaptations_folder / "install.log").is_file()
    assert STEP.done
    assert not STEP.done(environment)


def test_a_checkout_without_the_plugin_is_told(small: Environment, tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"no pyproject\.toml; .*own checkout"):
        STEP.run(replace(small, adaptations_source=tmp_path), silent)
