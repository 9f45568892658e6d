"""The command table: every command loads, and none is loaded before it is used."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from npu_assay.cli import COMMANDS, cli
from npu_assay.lazy import LazyGroup


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_in_the_table_loads(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    assert command.get_short_help_str(), "a command without a line of help"


def test_a_command_is_imported_only_when_it_is_used() -> None:
    show_loaded = "import sys, npu_assay.cli; print([m for m in sys.modules if 'npu_assay.commands.' in m])"
    loaded = subprocess.run([sys.executable, "-c", show_loaded], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_a_target_that_is_no_command_is_refused() -> None:
    group = LazyGroup(name="g", commands_at={"good": "npu_assay.cli:cli", "bad": "npu_assay.cli:COMMANDS"})
    context = click.Context(group)
    assert group.get_command(context, "good") is cli
    assert group.get_command(context, "absent") is None
    with pytest.raises(TypeError, match="COMMANDS is dict"):
        group.get_command(context, "bad")


def test_an_output_that_is_full_is_one_line_and_no_verdict() -> None:
    command = [sys.executable, "-m", "npu_assay", "env", "list"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4
    assert done.stderr == "npu-assay: can't write the output: No space left on device\n"
