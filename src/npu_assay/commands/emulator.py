"""`npu-assay emulator`: the emulated CANN."""

import os
import shlex

import click

from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.errors import UnusableError


@click.group()
def emulator() -> None:
    """Build and describe the emulated CANN."""


_environment = click.option(
    "--environment",
    "name",
    default=DEFAULT_ENVIRONMENT,
    show_default=True,
    metavar="NAME",
    help="The environment it is for.",
)


def _emulated(name: str) -> Environment:
    return Environment.of(load_lock(name), "emulated")


@emulator.command()
@_environment
def build(name: str) -> None:
    """Build the emulated CANN for an environment.

    Unless it is built already; prints where it is.
    """
    environment = _emulated(name)
    if not environment.is_made():
        raise UnusableError(
            f"environment {name} is not installed, and the emulator is built against its torch;"
            f" type: npu-assay env install {name}"
        )
    click.echo(environment.provider.provide(environment.target, lambda line: click.echo(line, err=True)).root)


#: What a shell keeps of itself in its environment; no business of ours.
_SHELLS_OWN = {"OLDPWD", "PWD", "SHLVL", "_"}


@emulator.command()
@_environment
def env(name: str) -> None:
    """Print shell commands that enter an environment.

    Type `eval "$(./assay emulator env)"`; then `python` is the environment's, and it sees the emulated NPU.
    """
    environment = _emulated(name)
    wanted = environment.variables(adaptations="adaptations" not in environment.missing())
    for variable in sorted(os.environ.keys() - wanted.keys() - _SHELLS_OWN):
        click.echo(f"unset {variable}")
    for variable, value in sorted(wanted.items()):
        if os.environ.get(variable) != value:
            click.echo(f"export {variable}={shlex.quote(value)}")


@emulator.command()
@_environment
def info(name: str) -> None:
    """Where the emulated CANN is or will be, and which build it is."""
    environment = _emulated(name)
    built = environment.provider.ready(environment.target)
    click.echo(f"folder        {environment.cann.root}")
    click.echo(f"innerversion  {environment.cann.innerversion() if built else 'not built'}")
