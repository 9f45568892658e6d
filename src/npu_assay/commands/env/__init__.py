"""`npu-assay env`: environments, from their locks. One module a command, imported when it is used."""

import click

from npu_assay.lazy import LazyGroup

_HERE = "npu_assay.commands.env"

#: Command name -> where its click command is.
COMMANDS = {
    "check": f"{_HERE}.checking:check",
    "diff": f"{_HERE}.comparing:diff",
    "edit-triton": f"{_HERE}.checking:edit_triton",
    "exec": f"{_HERE}.executing:exec_",
    "export": f"{_HERE}.exporting:export",
    "fetch": f"{_HERE}.fetching:fetch",
    "install": f"{_HERE}.installing:install",
    "list": f"{_HERE}.showing:list_",
    "lock": f"{_HERE}.locking:lock",
    "prune": f"{_HERE}.pruning:prune",
    "show": f"{_HERE}.showing:show",
}


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def env() -> None:
    """Environments: locks, what is installed, and what differs.

    Without NAME a command is about cann900-vllm018, or the one that NPU_ASSAY_ENVIRONMENT names.
    """
