"""A click group that imports a command's module when that command is used: start-up stays fast."""

import importlib
from collections.abc import Mapping

import click


class LazyGroup(click.Group):
    """A group whose commands are named by `module:attribute` and imported on first use."""

    def __init__(self, *, commands_at: Mapping[str, str], **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]  # click.Group's own options, passed through
        self._commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted; imports nothing."""
        return sorted({*super().list_commands(ctx), *self._commands_at})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None; imports its module."""
        target = self._commands_at.get(cmd_name)
        if target is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{target} is {type(command).__name__}, not a click command")
        return command
