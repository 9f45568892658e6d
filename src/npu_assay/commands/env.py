"""`npu-assay env`: environments, from their locks."""

import click

from npu_assay.commands.progress import EchoProgress
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install as install_all
from npu_assay.environment.install import install_step
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock, lock_names
from npu_assay.errors import UnusableError


@click.group()
def env() -> None:
    """List, show and install environments."""


@env.command("list")
def list_() -> None:
    """One line for each environment: its name and what it is."""
    names = lock_names()
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:<{width}}  {load_lock(name).content.summary}")


@env.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
def show(name: str) -> None:
    """What an environment is made of, where it departs from upstream's matrix, and where it is."""
    lock = load_lock(name)
    environment = Environment.of(lock)
    click.echo(f"{name}: {lock.content.summary}\nPython {lock.content.python}\n")
    for component, pin in environment.variant.components.items():
        build = f" ({pin.build})" if pin.build else ""
        click.echo(f"{component:<14} {pin.version + build:<18} {pin.source}")
        for architecture, sha256 in pin.sha256.items():
            click.echo(f"    {architecture:<10} sha256 {sha256}")
        if pin.deviation:
            click.echo(click.wrap_text(pin.deviation, 110, "    ", "    "))
    click.echo(f"\nlock    {lock.path} (sha256 {lock.sha256})\nfolder  {environment.root}")
    click.echo(f"state   {_state(environment)}")


def _state(environment: Environment) -> str:
    try:
        missing = environment.missing()
    except UnusableError as error:
        return f"can't be installed here: {error}"
    return f"not installed: {', '.join(missing)}" if missing else "installed"


@env.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@click.option("--step", help="Run only this step, and tell which earlier one is missing.")
def install(name: str, step: str | None) -> None:
    """Install an environment into the cache; what is there already stays."""
    environment = Environment.of(load_lock(name))
    if step is None:
        install_all(environment, EchoProgress())
        click.echo(f"{name} is installed in {environment.root}")
    else:
        install_step(environment, step, EchoProgress())
