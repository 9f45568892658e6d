"""Fixtures that more than one room's tests use."""

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import hypothesis
import pytest
from xdist_groups import pytest_collection_modifyitems  # noqa: F401

from npu_assay.cache import folder_lock
from npu_assay.digest import sha256_of
from npu_assay.environment.environment import Environment
from npu_assay.environment.fetch import fetch
from npu_assay.environment.install import install
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.project import REQUIREMENTS

# Under nohup, and in the background of a script, processes start with signals ignored: what the tests start
# would inherit that, and the tests of signals send them.
for _number, _default in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)

# No test fails for being slow on a busy machine.
hypothesis.settings.register_profile("any-machine", deadline=None)
hypothesis.settings.load_profile("any-machine")


class _Echo:
    """Tells who waits for a test run what is being installed."""

    def begin(self, step: str) -> None:
        click.echo(f"environment: {step}", err=True)

    def end(self, step: str, seconds: float | None) -> None:
        pass

    def fail(self, step: str) -> None:
        click.echo(f"environment: {step} failed", err=True)

    def note(self, line: str) -> None:
        click.echo(f"environment: {line}", err=True)


def _installed(name: str) -> Environment:
    """Install the emulated environment of that lock, in the cache that ./assay run uses.

    Where the default one is not there yet it is installed without network, from what was fetched: so every
    cold run of the tests proves `env fetch` and `env install --from`. Under xdist one worker installs while
    the others wait; tests of an environment that few need are a group, so that only one worker needs it.
    """
    environment = Environment.of(load_lock(name))
    with folder_lock(environment.cache / f"tests-{name}"):
        if name == DEFAULT_ENVIRONMENT and not environment.is_made():
            _install_offline(environment)
        install(environment, _Echo())
    return environment


def _install_offline(environment: Environment) -> None:
    command = [sys.executable, "-m", "npu_assay", "env", "install", environment.name]
    command += ["--device", "emulated", "--from", str(_fetched(environment))]
    subprocess.run([*_without_network(), *command], env=os.environ | _UNUSABLE, check=True)


def _fetched(environment: Environment) -> Path:
    """Fetch that environment for this machine, into a folder of the cache for just this content.

    Folders of other contents go when nobody has used them for a day: another checkout's tests may be at it.
    """
    machine = platform.machine()
    content = f"{environment.lock.sha256} {sha256_of(REQUIREMENTS)} {machine}"
    kept = environment.cache / "tests-fetched"
    folder = kept / hashlib.sha256(content.encode()).hexdigest()[:16]
    with folder_lock(kept):
        fetch(environment.variant, folder, machine, _Echo().note)
        os.utime(folder)
        for other in kept.iterdir():
            if other.stat().st_mtime < folder.stat().st_mtime - _DAY:
                shutil.rmtree(other)
    return folder


_DAY = 24 * 60 * 60

#: Port 9 of the loopback interface: nobody answers.
_UNUSABLE = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}


def _without_network() -> list[str]:
    """A command's prefix that gives it a network namespace with nothing in it, where we may do that."""
    prefix = ["unshare", "--net"]
    try:
        may = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        may = False
    return prefix if may else []


@pytest.fixture(scope="session")
def environment() -> Environment:
    """The default environment, cann900-vllm018, with its emulator."""
    return _installed(DEFAULT_ENVIRONMENT)


@pytest.fixture(scope="session")
def fetched() -> Path:
    """A folder with all that the default environment, and the launcher, are installed from."""
    return _fetched(Environment.of(load_lock(DEFAULT_ENVIRONMENT)))


@pytest.fixture(scope="session")
def torch210() -> Environment:
    """vLLM 0.18.0 on torch 2.10, with vllm-ascend's module rebuilt."""
    return _installed("cann900-vllm018-torch210")


@pytest.fixture(scope="session")
def vllm0221() -> Environment:
    """vLLM 0.22.1 on torch 2.10."""
    return _installed("cann900-vllm0221")
