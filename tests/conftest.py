"""Fixtures that more than one room's tests use."""

import click
import pytest

from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install
from npu_assay.environment.lock import load_lock


class _Echo:
    """Tells who waits for a test run what is being installed."""

    def begin(self, step: str) -> None:
        click.echo(f"environment: {step}", err=True)

    def end(self, step: str, seconds: float | None) -> None:
        pass

    def note(self, line: str) -> None:
        click.echo(f"environment: {line}", err=True)


@pytest.fixture(scope="session")
def environment() -> Environment:
    """The environment cann900-vllm018, installed with its emulator in the cache that ./assay run uses.

    Under xdist the installation's own lock lets one worker install while the others wait.
    """
    environment = Environment.of(load_lock())
    install(environment, _Echo())
    return environment
