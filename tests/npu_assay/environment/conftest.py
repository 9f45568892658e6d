"""A small lock, for tests that need an environment but not its contents."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock

LOCK = """\
name = "small"
summary = "a small one"
python = "3.11.6"
disk_mib = 1

[requirements]
file = "small.requirements.txt"
sha256 = "{requirements}"
"""
COMPONENT = '\n[components.{name}]\nversion = "1.0"\nsource = "index"\nsha256 = {{ sdist = "{sha256}" }}\n'
B250 = "V100R001C10SPC001B250"
PROVIDED = """
[components.{name}]
version = "9.0.0"
build = "{build}"
source = "run-packages"
file = "{name}.run"
sha256 = {{ x86_64 = "unverified", aarch64 = "unverified" }}

[components.{name}.emulated]
version = "9.0.0"
build = "EMULATED"
source = "emulated"
"""


@pytest.fixture
def small(tmp_path: Path) -> Environment:
    """An environment that is not installed, of a lock without any requirement, in a cache of its own."""
    locks = write_small_lock(tmp_path / "locks")
    return Environment.of(load_lock("small", locks), cache=tmp_path / "cache")


def write_small_lock(locks: Path) -> Path:
    """Write the small lock into a new folder of locks."""
    locks.mkdir()
    (locks / "small.requirements.txt").touch()
    text = LOCK.format(requirements=hashlib.sha256(b"").hexdigest())
    for name in ("torch", "torchvision", "torch-npu", "triton-ascend", "vllm", "vllm-ascend"):
        text += COMPONENT.format(name=name, sha256="0" * 64)
    for name, build in (("cann", B250), ("cann-ops", B250), ("nnal", "9.0.0.B250")):
        text += PROVIDED.format(name=name, build=build)
    (locks / "small.toml").write_text(text)
    return locks


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
