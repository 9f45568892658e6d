"""A live npu-smi, played by a shell script on PATH: its answers are files named by its arguments."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from npu_smi_texts import HEALTH, LISTING, MAPPING, card, info

from npu_assay.commands.device import device
from npu_assay.device.query import NpuSmi
from npu_assay.errors import AssayError, UnusableError

SCRIPT = """#!/bin/sh
name=$(echo "$*" | tr ' ' '_')
cat "$(dirname "$0")/$name" || exit 1
exit $(cat "$(dirname "$0")/exit_code" 2>/dev/null || echo 0)
"""


@pytest.fixture
def smi(tmp_path, monkeypatch) -> Path:
    """The folder with the script and its answers; it is on PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "npu-smi").write_text(SCRIPT)
    (folder / "npu-smi").chmod(0o755)
    answers = {"info": info(card(0), card(3)), "info_-m": MAPPING, "info_-l": LISTING}
    answers |= {f"info_-t_health_-i_{npu}_-c_0": HEALTH for npu in (0, 3)}
    for name, answer in answers.items():
        (folder / name).write_text(answer)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def run(*arguments: str):
    return CliRunner().invoke(device, list(arguments))


def test_health_keeps_the_raw_bytes_and_judges_them(smi, tmp_path):
    raw = tmp_path / "raw"
    result = run("health", "--raw", str(raw))
    assert result.exit_code == 0, result.output
    assert "NPU 3 chip 0 logical id 1: 910B3, OK, HBM 65536 MiB, 0000:03:00.0" in result.output
    assert (raw / "npu-smi-info.txt").read_bytes() == (smi / "info").read_bytes()
    assert json.loads((raw / "devices.json").read_text()) == json.loads(run("health", "--json").output)
    assert sorted(path.name for path in raw.iterdir()) == [
        "devices.json",
        "npu-smi-health-0-0.txt",
        "npu-smi-health-3-0.txt",
        "npu-smi-info-l.txt",
        "npu-smi-info-m.txt",
        "npu-smi-info.txt",
    ]
    stored = run("health", "--from", str(raw), "--json")
    assert json.loads(stored.output) == json.loads(run("health", "--json").output)


def test_an_unhealthy_device_is_exit_1_and_its_raw_output_is_kept(smi, tmp_path):
    (smi / "info_-t_health_-i_3_-c_0").write_text(HEALTH.replace("OK", "Alarm"))
    result = run("health", "--raw", str(tmp_path / "raw"))
    assert isinstance(result.exception, AssayError)
    assert result.exception.exit_code == 1
    assert "NPU 3 chip 0: health is Alarm" in result.output
    assert b"Alarm" in (tmp_path / "raw/npu-smi-health-3-0.txt").read_bytes()


def test_dies_are_counted_from_the_mapping(smi):
    assert NpuSmi(os.environ).count_dies() == 2
    (smi / "info_-m").write_text(MAPPING.replace("\t3 ", "\t-1"))
    assert NpuSmi(os.environ).count_dies() == 1
    (smi / "info_-m").write_text(HEALTH)
    with pytest.raises(UnusableError, match="npu-smi info -m: expected the chips, found HealthReport"):
        NpuSmi(os.environ).count_dies()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("info", "dcmi module initialize failed. ret is -8005\n", "ret is -8005"),
        ("info_-m", "", "npu-smi's output is empty"),
        ("info_-m", "something else\n", "unknown npu-smi layout"),
        ("exit_code", "7", "exit code 7, although its output looks whole"),
    ],
)
def test_an_npu_smi_that_cannot_be_used_is_exit_4(smi, file, text, message):
    assert run("health").exit_code == 0
    (smi / file).write_text(text)
    result = run("health")
    assert isinstance(result.exception, UnusableError)
    assert message in str(result.exception)


def test_no_npu_smi_on_path(smi, tmp_path):
    NpuSmi({"PATH": str(smi)})
    with pytest.raises(UnusableError, match="npu-smi: not on PATH"):
        NpuSmi({"PATH": str(tmp_path)})


def test_list_reads_stored_files(host):
    result = run("list", "--from", str(host))
    assert result.exit_code == 0
    assert (
        result.output.splitlines()[0] == "NPU 0 chip 0 logical id 0: 910B3, OK, HBM 65536 MiB, 0000:00:00.0"
    )
    assert run("health", "--from", str(host), "--raw", "x").exception.exit_code == 2
