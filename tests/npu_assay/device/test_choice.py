"""Free dies, their locks, and commands that run on them."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from npu_smi_texts import C950, MAPPING, MAPPING_950, SICK, card, die_950, idle, info, process
from other_user import as_another_user

from npu_assay.device.choice import take_free_dies
from npu_assay.device.locks import lock_folder, lock_name
from npu_assay.errors import UnusableError


@pytest.fixture
def locks(tmp_path, monkeypatch):
    monkeypatch.setenv("NPU_ASSAY_LOCKS", str(tmp_path / "locks"))
    return tmp_path / "locks"


IDLE = info(card(0), card(3), processes=idle(0) + idle(3))


def test_two_runs_never_get_the_same_die(host_of, locks):
    host = host_of(IDLE, MAPPING)
    first = take_free_dies(host, 1, {}, locks)
    second = take_free_dies(host, 1, {}, locks)
    assert (first.visible_devices, second.visible_devices) == ("0", "1")
    with pytest.raises(
        UnusableError, match=rf"1 free dies wanted, 0 found: .*locked by process {os.getpid()};"
    ):
        take_free_dies(host, 1, {}, locks)
    first.release()
    assert take_free_dies(host, 1, {}, locks).visible_devices == "0"


def test_too_few_free_dies_take_none(host_of, locks):
    host = host_of(IDLE, MAPPING)
    with pytest.raises(UnusableError, match=r"3 free dies wanted, 2 found: there are no more, or ASCEND"):
        take_free_dies(host, 3, {}, locks)
    both = take_free_dies(host, 2, {}, locks)
    assert both.visible_devices == "0,1"


def test_the_ids_are_ascending_and_from_those_that_may_be_seen(host_of, locks):
    host = host_of(IDLE, MAPPING)
    both = take_free_dies(host, 2, {"ASCEND_RT_VISIBLE_DEVICES": "1,0"}, locks)
    assert both.visible_devices == "0,1"
    both.release()
    assert take_free_dies(host, 1, {"ASCEND_RT_VISIBLE_DEVICES": "1"}, locks).visible_devices == "1"


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ((info(card(0, health="Alarm"), card(3)), MAPPING), "NPU 0 chip 0: health is Alarm"),
        ((info(card(0), card(3), processes=process(0, 9)), MAPPING), "NPU 0 chip 0: used by process 9"),
        ((info(card(0, hbm="9000 / 65536"), card(3)), MAPPING), "9000 MiB of HBM in use"),
        ((MAPPING,), "NPU 0 chip 0: its health is not known"),
        ((info(card(0)), MAPPING), "NPU 0 chip 0: what runs on it is not known"),
        ((info(card(0), card(3), processes=idle(3)), MAPPING), "NPU 0 chip 0: what runs on it is not known"),
        ((IDLE,), "npu-smi shows no logical id, which ASCEND_RT_VISIBLE_DEVICES needs"),
    ],
)
def test_a_die_that_is_sick_or_used_or_unknown_is_never_taken(host_of, locks, texts, reason):
    assert len(take_free_dies(host_of(IDLE, MAPPING), 2, {}, locks / "good").dies) == 2
    (locks.parent / "stored" / "1.txt").unlink()
    with pytest.raises(UnusableError) as error:
        take_free_dies(host_of(*texts), 2, {}, locks)
    assert reason in str(error.value)


def test_the_950s_number_stands_for_the_logical_id_that_it_does_not_show(host_of, locks):
    host = host_of(info(die_950(4), die_950(6), layout=C950, processes=idle(4) + idle(6)), MAPPING_950)
    assert [die.logical_id for die in host.dies] == [None, None]
    assert take_free_dies(host, 1, {"ASCEND_RT_VISIBLE_DEVICES": "6"}, locks).visible_devices == "6"


def test_a_lock_is_of_the_physical_die(host_of):
    """Whatever the card is called here: its bus id is the same in every container."""
    assert lock_name(host_of(info(card(0xC1))).dies[0]) == "die-0000-c1-00.0-0.lock"
    assert lock_name(host_of(MAPPING).dies[1]) == "die-npu-3-0.lock"


def test_an_emulated_die_does_not_lock_a_real_one(host_of, locks):
    real = take_free_dies(host_of(IDLE, MAPPING), 1, {}, locks)
    emulated = take_free_dies(host_of(IDLE.replace("25.3.9", "25.3.9+emulated"), MAPPING), 1, {}, locks)
    assert (real.visible_devices, emulated.visible_devices) == ("0", "0")


def test_another_users_lock_counts_and_can_be_taken_after_it(host_of):
    host = host_of(IDLE, MAPPING)
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others altogether
        Path(name).chmod(0o755)
        folder = Path(name) / "npu-assay"
        ours = take_free_dies(host, 1, {}, folder)
        assert ours.visible_devices == "0"
        assert as_another_user(lambda: take_free_dies(host, 1, {}, folder).visible_devices) == "1"
        ours.release()
        assert as_another_user(lambda: take_free_dies(host, 1, {}, folder).visible_devices) == "0"
        assert take_free_dies(host, 2, {}, folder).visible_devices == "0,1"


def test_where_the_locks_are(tmp_path):
    assert lock_folder({"NPU_ASSAY_LOCKS": str(tmp_path)}) == tmp_path
    assert lock_folder({}).name == "npu-assay"


def test_a_folder_that_can_not_hold_locks_is_named(host_of, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UnusableError, match=r"no lock can be made here .* set NPU_ASSAY_LOCKS to a folder"):
        take_free_dies(host_of(IDLE, MAPPING), 1, {}, tmp_path / "file" / "locks")
    link = tmp_path / "links"
    link.mkdir()
    (link / lock_name(host_of(IDLE, MAPPING).dies[0])).symlink_to(tmp_path / "file")
    with pytest.raises(UnusableError, match="no lock can be made here"):
        take_free_dies(host_of(IDLE, MAPPING), 1, {}, link)


def exec_command(*words: str, dies: int = 1) -> list[str]:
    return [sys.executable, "-m", "npu_assay", "device", "exec", "--dies", str(dies), "--", *words]


SHOW = ("sh", "-c", 'echo "$ASCEND_RT_VISIBLE_DEVICES"; exit 7')


def test_a_command_sees_its_dies_and_its_exit_code_is_passed_on(smi, locks):
    ended = subprocess.run(exec_command(*SHOW, dies=2), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (7, "0,1\n"), ended.stderr
    assert "npu-assay: on NPU 3 chip 0, logical id 1" in ended.stderr
    missing = subprocess.run(exec_command("/no/such"), capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "/no/such: can't be run (No such file or directory)" in missing.stderr


def test_dies_are_kept_as_long_as_the_command_lives_and_signals_reach_it(smi, locks):
    # `read` waits on its standard input; what it started keeps the lock too.
    words = ("sh", "-c", 'echo "$ASCEND_RT_VISIBLE_DEVICES"; read line')
    both = []
    for expected in ("0", "1"):
        running = subprocess.Popen(
            exec_command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        both.append(running)
        assert running.stdout is not None
        assert running.stdout.readline() == f"{expected}\n"
    third = subprocess.run(exec_command("true"), capture_output=True, text=True, check=False)
    assert third.returncode == 4
    assert f"NPU 0 chip 0: locked by process {both[0].pid}" in third.stderr
    both[0].kill()
    assert both[0].wait() == -signal.SIGKILL
    after = subprocess.run(exec_command(*SHOW), capture_output=True, text=True, check=False)
    assert (after.returncode, after.stdout) == (7, "0\n")
    both[1].terminate()
    assert both[1].wait() == -signal.SIGTERM
    for running in both:
        running.communicate()


def test_a_sick_die_is_not_taken(smi, locks):
    (smi / "info_-t_health_-i_0_-c_0").write_text(SICK)
    ended = subprocess.run(exec_command(*SHOW), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (7, "1\n")
