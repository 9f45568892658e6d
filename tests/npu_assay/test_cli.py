"""The command table: every command loads, and none is loaded before it is used."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from npu_assay.cli import COMMANDS, cli, main
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


def test_a_file_that_cant_be_used_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr("npu_assay.cli.cli", file.read_bytes)
    main()
    monkeypatch.setattr("npu_assay.cli.cli", (file / "below").read_bytes)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    assert capsys.readouterr().err == f"npu-assay: can't use {file}/below: Not a directory\n"


def test_an_output_that_is_full_is_one_line_and_no_verdict() -> None:
    command = [sys.executable, "-m", "npu_assay", "env", "list"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4
    assert done.stderr == "npu-assay: can't write the output: No space left on device\n"
