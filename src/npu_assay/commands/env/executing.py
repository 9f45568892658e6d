"""`npu-assay env exec`: any program, with all variables that a run's stages get."""

import click

from npu_assay.becoming import become
from npu_assay.commands.device_option import device_option, variant_kind
from npu_assay.environment.ascend_build.locked_build import with_locked
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock


@click.command("exec", context_settings={"allow_interspersed_args": False})
@click.option("--environment", "name", default=DEFAULT_ENVIRONMENT, show_default=True, metavar="NAME")
@device_option(help_="The variant whose environment it is; auto: the NPU's where there is an NPU.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(name: str, wanted: str, command: tuple[str, ...]) -> None:
    """Run COMMAND in an environment, in place of npu-assay.

    It gets what CANN's own scripts set, the environment's Python first on PATH, and the plug-in: `python`,
    `vllm` or a shell then work as after sourcing all of that by hand.
    """
    environment = Environment.of(load_lock(name), variant_kind(wanted))
    become(command, with_locked(environment, environment.variables()))
