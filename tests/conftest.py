"""Fixtures that more than one room's tests use."""

import click
import pytest

from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock


class _Echo:
    """Tells who waits for a test run what is being installed."""

    def begin(self, step: str) -> None:
        click.echo(f"environment: {step}", err=True)

    def end(self, step: str, seconds: float | None) -> None:
        pass

    def note(self, line: str) -> None:
        click.echo(f"environment: {line}", err=True)


def _installed(name: str) -> Environment:
    """Install the emulated environment of that lock, in the cache that ./assay run uses.

    Under xdist the installation's own lock lets one worker install while the others wait.
    """
    environment = Environment.of(load_lock(name))
    install(environment, _Echo())
    return environment


@pytest.fixture(scope="session")
def environment() -> Environment:
    """The default environment, cann900-vllm018, with its emulator."""
    return _installed(DEFAULT_ENVIRONMENT)


@pytest.fixture(scope="session")
def torch210() -> Environment:
    """vLLM 0.18.0 on torch 2.10, with vllm-ascend's module rebuilt."""
    return _installed("cann900-vllm018-torch210")


@pytest.fixture(scope="session")
def vllm0221() -> Environment:
    """vLLM 0.22.1 on torch 2.10."""
    return _installed("cann900-vllm0221")
