"""`npu-assay device list` and `health`, on a live npu-smi."""

import json
import os

import pytest
from click.testing import CliRunner
from npu_smi_texts import (
    FAILURE_8005,
    LISTING,
    SICK,
    UNSUPPORTED,
    USAGES_BARE,
    card,
    headless,
    idle,
    info,
    process,
)

from npu_assay.commands.device import device
from npu_assay.device.npu_smi.errors import NoAnswerError
from npu_assay.device.query import INFO, NpuSmi
from npu_assay.errors import AssayError, UnusableError, UsageError


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
    (smi / "info_-t_health_-i_3_-c_0").write_text(SICK)
    result = run("health", "--raw", str(tmp_path / "raw"))
    assert isinstance(result.exception, AssayError)
    assert result.exception.exit_code == 1
    assert "NPU 3 chip 0: health is Alarm, expected OK (error code 80E18005" in result.output
    assert b"Alarm" in (tmp_path / "raw/npu-smi-health-3-0.txt").read_bytes()


def test_a_die_that_somebody_uses_is_a_fault_before_a_run_only(smi):
    assert run("health", "--idle").exit_code == 0
    (smi / "info").write_text(info(card(0), card(3), processes=idle(0) + process(3, 77)))
    assert run("health").exit_code == 0
    assert "NPU 3 chip 0: used by process 77" in str(run("health", "--idle").exception)


def test_what_was_left_on_a_die_is_a_fault_after_a_run(smi, tmp_path):
    before, after = tmp_path / "device", tmp_path / "device" / "after"
    assert run("health", "--raw", str(before)).exit_code == 0
    assert run("health", "--after", str(before), "--raw", str(after)).exit_code == 0
    (smi / "info").write_text(info(card(0), card(3), processes=idle(0) + process(3, 77)))
    left = run("health", "--after", str(before), "--raw", str(after))
    assert left.exception.exit_code == 1
    assert "process 77 (VLLMEngineCore, 55123 MiB) was left on it" in str(left.exception)
    assert b"77" in (after / "npu-smi-info.txt").read_bytes()


def test_only_dies_that_the_process_sees_are_judged(smi, monkeypatch):
    (smi / "info_-t_health_-i_3_-c_0").write_text(SICK)
    assert run("health").exception.exit_code == 1
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "0")
    seen = run("health")
    assert seen.exit_code == 0
    assert "npu-health: looked at NPU 0 chip 0\n" in seen.output
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "1")
    assert "NPU 3 chip 0: health is Alarm" in str(run("health").exception)
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "7")
    assert "'7' is no logical id here" in str(run("health").exception)


def test_an_override_names_another_die_and_is_printed(smi, monkeypatch):
    (smi / "info_-t_health_-i_3_-c_0").write_text(SICK)
    monkeypatch.setenv("NPU_INDEX", "0")
    judged = run("health")
    assert judged.exit_code == 0
    assert judged.output.splitlines()[2:5] == [
        "npu-health: override NPU_INDEX=0",
        "npu-health: the run sees NPU 0 chip 0, NPU 3 chip 0",
        "npu-health: looked at NPU 0 chip 0",
    ]
    monkeypatch.setenv("NPU_INDEX", "3")
    monkeypatch.setenv("NPU_CHIP_INDEX", "0")
    assert run("health").exception.exit_code == 1
    monkeypatch.setenv("NPU_CHIP_INDEX", "5")
    assert "NPU_INDEX=3 NPU_CHIP_INDEX=5: no such die" in str(run("health").exception)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"NPU_INDEX": "six"}, "NPU_INDEX='six': expected a whole number"),
        ({"NPU_CHIP_INDEX": "0"}, "NPU_CHIP_INDEX=0 without NPU_INDEX"),
        ({"SKIP_NPU_HEALTH_CHECK": "yes"}, "SKIP_NPU_HEALTH_CHECK='yes': expected 1"),
    ],
)
def test_an_override_that_can_not_be_meant_is_refused(smi, monkeypatch, variables, said):
    assert run("health").exit_code == 0
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = run("health")
    assert isinstance(result.exception, UsageError)
    assert said in str(result.exception)


def test_a_skipped_check_asks_nothing_judges_nothing_and_says_so(smi, monkeypatch, tmp_path):
    (smi / "info_-t_health_-i_3_-c_0").write_text("NPU health query failed\n")
    assert run("health").exception.exit_code == 4
    monkeypatch.setenv("SKIP_NPU_HEALTH_CHECK", "1")
    skipped = run("health", "--raw", str(tmp_path / "raw"))
    assert skipped.exit_code == 0
    assert "npu-health: skipped, as SKIP_NPU_HEALTH_CHECK=1 says\n" in skipped.output
    assert not list((tmp_path / "raw").glob("npu-smi-health*"))
    assert json.loads((tmp_path / "raw" / "devices.json").read_text())["skipped"] is True


def test_a_driver_without_the_health_query_is_named(smi):
    (smi / "info_-t_health_-i_3_-c_0").write_text("This device does not support querying health.\n")
    result = run("health")
    assert result.exit_code == 0  # npu-smi info has a health of its own
    assert "npu-smi info -t health -i 3 -c 0: This device does not support" in result.output


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("info", FAILURE_8005, "ret is -8005"),
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


CUT = {"info": info(card(0), card(3)).rstrip("+=\n"), "info_-l": LISTING.replace(": 2\n", ": 8\n")}


@pytest.mark.parametrize("file", CUT)
@pytest.mark.parametrize("command", [("health",), ("list",), ("map",), ("exec", "--", "true")])
def test_a_live_npu_smi_that_ends_before_its_end_is_exit_4_and_kept(smi, tmp_path, file, command):
    raw = tmp_path / "raw"
    assert run("health", "--raw", str(raw)).exit_code == 0
    (smi / file).write_text(CUT[file])
    result = run(*command)
    assert isinstance(result.exception, UnusableError)
    assert "npu-smi's output is cut short after line " in str(result.exception)
    assert "ask again" in str(result.exception)
    assert run("health", "--raw", str(raw)).exception.exit_code == 4
    assert (raw / f"npu-smi-{file.replace('_', '')}.txt").read_text() == CUT[file]


@pytest.mark.parametrize("file", CUT)
def test_of_stored_output_that_was_cut_short_what_is_left_is_shown_and_judged_a_problem(tmp_path, file):
    stored = tmp_path / "stored.txt"
    stored.write_text(CUT[file] + "\n")
    said = f"{stored}: cut short after line "
    listed = run("list", "--from", str(stored))
    assert listed.exit_code == 0
    assert listed.stderr.startswith(f"npu-assay: {said}")
    assert "NPU 3" in listed.stdout
    as_json = run("list", "--from", str(stored), "--json")
    assert [die["npu_id"] for die in json.loads(as_json.stdout)["devices"]] == [0, 3]
    assert json.loads(as_json.stdout)["problems"][0].startswith(said)
    for command, error in (("health", "not healthy: "), ("map", "the ids can't be trusted: ")):
        result = run(command, "--from", str(stored), "--json")
        assert result.exception.exit_code == 1
        assert str(result.exception).startswith(error + said)
        assert json.loads(result.stdout)["problems"][0].startswith(said)
        assert len(json.loads(result.stdout)["devices"]) == 2
        assert said in run(command, "--from", str(stored)).stdout


def test_how_a_table_was_read_is_said_in_text_and_json(tmp_path):
    stored = tmp_path / "stored.txt"
    stored.write_text(headless(card(0), card(3)))
    note = f"{stored}: no header: read by the shape of its rows"
    for command in ("list", "health", "map"):
        as_json = json.loads(run(command, "--from", str(stored), "--json").stdout)
        assert as_json["notes"][0] == note
        assert as_json["problems"] == []
        assert note in run(command, "--from", str(stored)).stdout.splitlines()


def test_figures_are_listed_as_npu_smi_writes_them(tmp_path):
    (tmp_path / "stored.txt").write_text(USAGES_BARE)
    assert run("list", "--from", str(tmp_path)).stdout.splitlines()[0] == (
        "a die without id logical id -: unnamed, health unknown, HBM 65536 MiB, no bus id, "
        "HBM Capacity(MB) 65536, NPU Utilization(%) 54, NPU Real-time Power(W) 161.5"
    )


def test_an_npu_smi_that_hangs_is_left_alone(smi):
    assert NpuSmi(os.environ, seconds=30).ask(INFO)
    (smi / "npu-smi").write_text("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(
        NoAnswerError, match=r"npu-smi info: no answer within 0.2 s; the driver or the device"
    ):
        NpuSmi(os.environ, seconds=0.2).ask(INFO)


def test_no_npu_smi_on_path(smi, tmp_path):
    NpuSmi({"PATH": str(smi)})
    with pytest.raises(UnusableError, match="npu-smi: not on PATH"):
        NpuSmi({"PATH": str(tmp_path)})


def test_list_reads_stored_files(host, tmp_path):
    result = run("list", "--from", str(host))
    assert result.exit_code == 0
    assert (
        result.output.splitlines()[0] == "NPU 0 chip 0 logical id 0: 910B3, OK, HBM 65536 MiB, 0000:00:00.0"
    )
    assert run("health", "--from", str(host), "--raw", "x").exception.exit_code == 2
    (tmp_path / "spod.txt").write_text(UNSUPPORTED)
    assert "does not support querying" in str(run("list", "--from", str(tmp_path / "spod.txt")).exception)
