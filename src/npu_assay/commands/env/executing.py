"""`npu-assay env exec`: any program, with all variables that a run's stages get."""

from dataclasses import replace
from pathlib import Path

import click

from npu_assay.becoming import become
from npu_assay.commands.device_option import device_option, variant_kind
from npu_assay.commands.progress import EchoProgress
from npu_assay.commands.source_options import source_options
from npu_assay.environment.ascend_build.build import build
from npu_assay.environment.ascend_build.locked import make_locked_tree
from npu_assay.environment.ascend_build.locked_build import with_locked
from npu_assay.environment.ascend_build.request import Request, named_tree, read_request
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock


@click.command("exec", context_settings={"allow_interspersed_args": False})
@click.option("--environment", "name", default=DEFAULT_ENVIRONMENT, show_default=True, metavar="NAME")
@device_option(help_="The variant whose environment it is; auto: the NPU's where there is an NPU.")
@source_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(
    name: str, wanted: str, source: str | None, patches: tuple[Path, ...], command: tuple[str, ...]
) -> None:
    """Run COMMAND in an environment, in place of npu-assay.

    It gets what CANN's own scripts set, the environment's Python first on PATH, and the plug-in: `python`,
    `vllm` or a shell then work as after sourcing all of that by hand. A vllm-ascend of one's own is built
    first, unless it was before.
    """
    request = read_request(source, patches)
    environment = Environment.of(load_lock(name), variant_kind(wanted))
    if request == Request():
        become(command, with_locked(environment, environment.variables()))
    own = _with_its_build(environment, request)
    become(command, own.variables())


def _with_its_build(environment: Environment, request: Request) -> Environment:
    note = EchoProgress().note
    tree = named_tree(request, environment, note)
    own = replace(environment, tree=tree or make_locked_tree(environment, note, request.patches))
    build(own, note)
    return own
