"""`npu-assay device` on stored output, from outside."""

import json
from pathlib import Path

from click.testing import CliRunner
from npu_smi_texts import card, info

from npu_assay.commands.device import device
from npu_assay.errors import UsageError


def test_device_alone_lists_the_dies(tmp_path: Path) -> None:
    stored = tmp_path / "info.txt"
    stored.write_text(info(card(0), card(3)))
    listed = CliRunner().invoke(device, ["list", "--json", "--from", str(stored)])
    assert [die["npu_id"] for die in json.loads(listed.stdout)["devices"]] == [0, 3]
    assert CliRunner().invoke(device, ["--json", "--from", str(stored)]).stdout == listed.stdout


def test_options_before_a_command_are_refused_not_forgotten(tmp_path: Path) -> None:
    stored = tmp_path / "info.txt"
    stored.write_text(info(card(0)))
    assert CliRunner().invoke(device, ["list", "--from", str(stored)]).exit_code == 0
    refused = CliRunner().invoke(device, ["--from", str(stored), "list"])
    assert isinstance(refused.exception, UsageError)
    assert "behind the command: device list" in str(refused.exception)


def test_a_folder_without_output_is_named(tmp_path: Path) -> None:
    refused = CliRunner().invoke(device, ["list", "--from", str(tmp_path)])
    assert isinstance(refused.exception, UsageError)
    assert str(refused.exception) == (f"{tmp_path}: no .txt file in it; give files, or folders of .txt files")
