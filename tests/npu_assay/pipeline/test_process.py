import errno
import os
import resource
import sys
import time
from pathlib import Path

import pytest
from processes import is_alive

from npu_assay.pipeline.process import End, Limits, run_to_log

QUICK = Limits(seconds=60, log_bytes=1 << 20, grace=0.3, settle=10)


def run(tmp_path: Path, program: str, limits: Limits = QUICK, **options):
    """Run a Python program; returns how it ended and the log's bytes."""
    log = tmp_path / "stage.log"
    ended = run_to_log(
        [sys.executable, "-c", program],
        folder=tmp_path,
        variables=dict(os.environ),
        log=log,
        limits=limits,
        **options,
    )
    return ended, log.read_bytes()


def pids_in(log: bytes) -> list[int]:
    return [int(word) for word in log.split() if word.isdigit()]


def test_stdout_and_stderr_are_raw_bytes_in_the_order_they_were_written(tmp_path):
    ended, log = run(
        tmp_path,
        "import os\n"
        "for n in range(200): os.write(1, b'out%d\\r\\n' % n); os.write(2, b'\\xff\\x1b[31m%d\\n' % n)",
    )
    assert (ended.end, ended.exit_code, ended.left_behind) == (End.EXITED, 0, ())
    assert log == b"".join(b"out%d\r\n\xff\x1b[31m%d\n" % (n, n) for n in range(200))


def test_without_pidfds_a_command_ends_as_well(tmp_path, monkeypatch):
    """As on Linux 4.19, which Ascend hosts have; the time limit still works, too."""
    program = "print('said', flush=True)"
    assert run(tmp_path, program)[1] == b"said\n"

    def missing(pid: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    ended, log = run(tmp_path, program)
    assert (ended.end, ended.exit_code, ended.left_behind, log) == (End.EXITED, 0, (), b"said\n")
    ended, _ = run(tmp_path, STUBBORN["sleeps"], Limits(0.5, 1 << 20, grace=0.3, settle=0.3))
    assert ended.end is End.TIMEOUT


def test_no_descriptor_is_left_open(tmp_path):
    run(tmp_path, "pass")
    before = sorted(Path("/proc/self/fd").iterdir())
    run(tmp_path, "print(1)")
    run(tmp_path, STUBBORN["sleeps"], Limits(0.3, 1 << 20, grace=0.3, settle=0.3))
    run_to_log(["/nonexistent"], folder=tmp_path, variables={}, log=tmp_path / "stage.log", limits=QUICK)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_a_command_gets_no_terminal_and_no_input(tmp_path):
    ended, log = run(tmp_path, "import os, sys; print(os.isatty(1), repr(sys.stdin.read()))")
    assert (ended.exit_code, log) == (0, b"False ''\n")


@pytest.mark.parametrize(
    ("program", "exit_code"),
    [("raise SystemExit(7)", 7), ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9)],
)
def test_exit_codes_and_signals_are_told_apart(tmp_path, program, exit_code):
    assert run(tmp_path, "pass")[0].exit_code == 0
    ended, _ = run(tmp_path, program)
    assert (ended.end, ended.exit_code) == (End.EXITED, exit_code)


@pytest.mark.parametrize("command", ["/nonexistent/python", "/etc/hostname"])
def test_a_command_that_cannot_start_says_why(tmp_path, command):
    log = tmp_path / "stage.log"
    ended = run_to_log([command], folder=tmp_path, variables={}, log=log, limits=QUICK)
    assert (ended.end, ended.exit_code, log.read_bytes()) == (End.NOT_STARTED, None, b"")
    assert ended.detail.startswith(command)


#: Print the pid, then never end.
STUBBORN = {
    "sleeps": "import os, time; print(os.getpid(), flush=True); time.sleep(1000)",
    "ignores SIGTERM": (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True); time.sleep(1000)"
    ),
    "has a child in another session that ignores SIGTERM": (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0: os.setsid()\n"
        "os.write(1, b'%d\\n' % os.getpid()); time.sleep(1000)"
    ),
    # The kernel shows such a process as ended.
    "has lost its first thread and goes on": (
        "import ctypes, os, threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "print(os.getpid(), flush=True); ctypes.CDLL(None).pthread_exit(None)"
    ),
}


@pytest.mark.parametrize("program", STUBBORN.values(), ids=STUBBORN)
def test_at_the_time_limit_nothing_survives(tmp_path, program):
    ended, log = run(tmp_path, program, Limits(seconds=2, log_bytes=1 << 20, grace=0.3, settle=0.3))
    assert ended.end is End.TIMEOUT
    assert ended.exit_code in (-15, -9)
    assert pids_in(log)
    assert not any(is_alive(pid) for pid in pids_in(log))


#: End well, but leave a process behind that prints its pid.
LEAVES_BEHIND = {
    "a child": "import os, time\nif os.fork() == 0:\n {}\nos._exit(0)",
    "a child in another session": "import os, time\nif os.fork() == 0:\n os.setsid()\n {}\nos._exit(0)",
    "a daemon that forked twice": (
        "import os, time\nif os.fork() == 0:\n os.setsid()\n"
        " if os.fork() == 0:\n  {}\n os._exit(0)\nos._exit(0)"
    ),
    "a daemon with an empty environment": (
        "import os, time\nif os.fork() == 0:\n os.setsid()\n"
        " os.execve('/bin/sh', ['sh', '-c', {!r}], {{}})\nos._exit(0)"
    ),
}
LINGER = 'os.write(1, b"%d " % os.getpid()); time.sleep(1000)'
LINGER_IN_SHELL = "echo $$; exec /bin/sleep 1000"


@pytest.mark.parametrize("program", LEAVES_BEHIND.values(), ids=LEAVES_BEHIND)
def test_what_outlives_the_command_is_ended_and_named(tmp_path, program):
    in_shell = "execve" in program
    ended, log = run(tmp_path, program.format("exit 0" if in_shell else "os._exit(0)"))
    assert (ended.end, ended.exit_code, ended.left_behind) == (End.EXITED, 0, ())

    lingering = program.format(LINGER_IN_SHELL if in_shell else LINGER)
    ended, log = run(tmp_path, lingering, Limits(60, 1 << 20, grace=0.3, settle=1.0))
    assert (ended.end, ended.exit_code) == (End.EXITED, 0)
    assert len(ended.left_behind) == 1
    assert len(pids_in(log)) == 1
    assert not is_alive(pids_in(log)[0])


def test_what_leaves_by_itself_soon_after_is_not_named_and_its_words_are_kept(tmp_path):
    program = "import os, time\nif os.fork() == 0:\n time.sleep(0.2); os.write(1, b'late')\nos._exit(0)"
    ended, log = run(tmp_path, program, Limits(60, 1 << 20, grace=0.3, settle=10))
    assert (ended.exit_code, ended.left_behind, log) == (0, (), b"late")


def test_processes_that_were_there_before_are_left_alone(tmp_path):
    other = os.posix_spawn(sys.executable, ["python", "-c", "import time; time.sleep(1000)"], os.environ)
    try:
        run(tmp_path, STUBBORN["sleeps"], Limits(0.5, 1 << 20, grace=0.3, settle=0.3))
        assert is_alive(other)
    finally:
        os.kill(other, 9)
        os.waitpid(other, 0)


def test_a_log_may_fill_its_limit_and_not_one_byte_more(tmp_path):
    limits = Limits(seconds=60, log_bytes=1000, grace=0.3, settle=10)
    ended, log = run(tmp_path, "print('x' * 999)", limits)
    assert (ended.end, ended.exit_code, len(log)) == (End.EXITED, 0, 1000)
    ended, log = run(tmp_path, "print('x' * 1000)", limits)
    assert (ended.end, len(log)) == (End.LOG_LIMIT, 1000)


def test_a_gigabyte_of_output_fills_neither_memory_nor_disk(tmp_path):
    limit = 128 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended, log = None, tmp_path / "stage.log"
    ended = run_to_log(
        [sys.executable, "-c", "import os\nfor _ in range(1024): os.write(1, bytes(1 << 20))"],
        folder=tmp_path,
        variables=dict(os.environ),
        log=log,
        limits=Limits(seconds=60, log_bytes=limit, grace=0.3, settle=0.3),
    )
    assert ended.end is End.LOG_LIMIT
    assert log.stat().st_size == limit
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < limit / 1024 / 4
    log.unlink()


def test_a_full_disk_ends_the_command(tmp_path):
    program = "import os, time\nprint(os.getpid(), flush=True)\nwhile True: print('x' * 1000)"
    ended = run_to_log(
        [sys.executable, "-c", program],
        folder=tmp_path,
        variables=dict(os.environ),
        log=Path("/dev/full"),
        limits=QUICK,
    )
    assert (ended.end, ended.detail) == (End.LOG_UNWRITABLE, "No space left on device")


def test_a_request_to_stop_ends_the_command(tmp_path):
    log = tmp_path / "stage.log"
    ticks: list[float] = []
    ended, _ = run(tmp_path, STUBBORN["sleeps"], tick=ticks.append, stop=lambda: log.stat().st_size > 0)
    assert ended.end is End.INTERRUPTED
    assert not is_alive(pids_in(log.read_bytes())[0])
    assert ticks == sorted(ticks)


def test_an_exception_on_our_side_leaves_nothing_running(tmp_path):
    def fail(seconds: float) -> None:
        if (tmp_path / "stage.log").stat().st_size:
            raise RuntimeError("progress broke")

    with pytest.raises(RuntimeError, match="progress broke"):
        run(tmp_path, STUBBORN["sleeps"], tick=fail)
    pid = pids_in((tmp_path / "stage.log").read_bytes())[0]
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(pid)
