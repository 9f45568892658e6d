"""`npu-assay env install`: a lock's environment, into the cache."""

from pathlib import Path

import click

from npu_assay.commands.device_option import device_option, variant_kind
from npu_assay.commands.progress import EchoProgress
from npu_assay.commands.soc_option import soc_option
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install as install_all
from npu_assay.environment.install import install_step
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.environment.steps import steps_of
from npu_assay.errors import UsageError


@click.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@device_option(help_="The variant to install; auto: the NPU's where there is an NPU, else the emulator's.")
@click.option("--step", metavar="NAME", help="Run only this step, and tell which earlier one is missing.")
@click.option(
    "--from",
    "fetched",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Take every file from this folder, which env fetch filled; no network is used.",
)
@soc_option
@click.option("--again", is_flag=True, help="Remove what is installed and install it from the beginning.")
def install(name: str, wanted: str, step: str | None, fetched: Path | None, again: bool) -> None:
    """Install an environment into the cache.

    What is there already stays.
    """
    if step and again:
        raise UsageError("--again installs everything; leave --step out")
    if fetched is not None and not fetched.is_dir():
        raise UsageError(
            f"--from {fetched}: no such folder; fill one with npu-assay env fetch {name} --to DIR"
        )
    environment = Environment.of(
        load_lock(name), variant_kind(wanted), fetched=fetched and fetched.absolute()
    )
    if step is None:
        install_all(environment, EchoProgress(), steps_of(environment.variant), again=again)
        click.echo(f"{name} is installed in {environment.root}")
    else:
        install_step(environment, step, EchoProgress())
