"""A small lock, for tests that need an environment but not its contents."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_lock import write_small_lock

from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock


@pytest.fixture
def small(tmp_path: Path) -> Environment:
    """An environment that is not installed, of a lock without any requirement, in a cache of its own."""
    locks = write_small_lock(tmp_path / "locks")
    return Environment.of(load_lock("small", locks), cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def _one_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with pip and, by a path, the setuptools that this test runs with."""
    venv = tmp_path_factory.mktemp("venv") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    [site] = venv.glob("lib/python*/site-packages")
    for old in site.glob("setuptools*"):
        shutil.rmtree(old)
    ours = Path(sys.prefix).joinpath(site.relative_to(venv))
    (site / "ours.pth").write_text(f"{ours}\n")
    return venv


@pytest.fixture
def with_venv(small: Environment, _one_venv: Path) -> Iterator[Environment]:
    """The small environment with a venv in it; a `vllm` that a test installs is removed afterwards."""
    (small.root / "steps").mkdir(parents=True)
    small.venv.symlink_to(_one_venv)
    yield small
    for left in small.site_packages.glob("vllm*"):
        shutil.rmtree(left)
