"""Tools whose output goes to a log, and the one line that tells why they failed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import ends, is_alive

from npu_assay.cache import folder_lock
from npu_assay.errors import UnusableError
from npu_assay.logged import first_error, last_line, pip_error, run_logged


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("one\n two \n\n", "two"),
        ("", "it said nothing"),
    ],
)
def test_the_last_line_that_says_something(output: str, expected: str) -> None:
    assert last_line(output) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("a.cpp:1:2: error: x\na.cpp:2:2: error: y\nmake: *** [all] Error 2\n", "a.cpp:1:2: error: x"),
        ("ld: a.o: undefined reference to `f'\nmake: *** Error\n", "ld: a.o: undefined reference to `f'"),
        ("CMake Error at CMakeLists.txt:1 (x):\n  no\n", "CMake Error at CMakeLists.txt:1 (x):"),
        ("make: *** Error 2\n", "make: *** Error 2"),
    ],
)
def test_the_first_error_of_a_build(output: str, expected: str) -> None:
    assert first_error(output) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "ERROR: Could not find a version of x\nERROR: No matching distribution\n",
            "Could not find a version of x",
        ),
        (
            "  error: subprocess-exited\n  \N{MULTIPLICATION SIGN} Building wheel did not run.\n",
            "Building wheel did not run.",
        ),
        (
            "WARNING: Retrying (Retry()) after connection broken by 'SSLError(SSLCertVerificationError(1,"
            " '[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate (_ssl.c:1006)'))': /simple/x/\n"
            "ERROR: Could not find a version of x\nERROR: No matching distribution found for x\n",
            "pip can't reach its index: SSLError(SSLCertVerificationError(1,"
            " '[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate (_ssl.c:1006)'));"
            " see index-url, proxy and cert in: pip config list",
        ),
        ("ERROR: Exception:\nTraceback:\n  File x\nOSError: no such bundle\n", "OSError: no such bundle"),
        ("Killed\n", "Killed"),
    ],
)
def test_what_pip_says(output: str, expected: str) -> None:
    assert pip_error(output) == expected


def python(code: str, log: Path) -> None:
    run_logged([sys.executable, "-c", code], log, doing="counting", variables=os.environ)


def test_output_goes_to_the_log_and_the_failure_tells_its_own_last_line(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "log"
    python("print('fine')", log)
    assert "fine" in log.read_text()
    with pytest.raises(UnusableError, match=rf"^counting failed \(3\): no more; the full log is {log}$"):
        python("import sys; print('no more', file=sys.stderr); sys.exit(3)", log)
    with pytest.raises(UnusableError, match=r"^counting failed \(4\): it said nothing;"):
        python("import sys; sys.exit(4)", log)


def test_a_tool_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match="counting: can't run /gone/tool: No such file"):
        run_logged(["/gone/tool"], tmp_path / "log", doing="counting", variables=os.environ)


def test_an_interrupted_tool_leaves_no_process(tmp_path: Path) -> None:
    """A build goes on in compilers that cmake's own end does not end."""
    pids = tmp_path / "pids"
    tool = f"sleep 99 & echo $$ $! > {pids}; wait"
    starts = f"""
import os
from pathlib import Path
from npu_assay.logged import run_logged
run_logged(["sh", "-c", {tool!r}], Path({str(tmp_path / "log")!r}), doing="x", variables=os.environ)
"""
    ours = subprocess.Popen([sys.executable, "-c", starts], stderr=subprocess.DEVNULL)
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        assert ours.poll() is None
        time.sleep(0.01)
    started = [int(pid) for pid in pids.read_text().split()]
    assert all(is_alive(pid) for pid in started)
    ours.send_signal(signal.SIGINT)
    ours.wait()
    assert all(ends(pid) for pid in started)


def test_a_tool_keeps_the_lock_of_the_folder_it_works_in_when_we_are_killed(tmp_path: Path) -> None:
    fifo, folder = tmp_path / "fifo", tmp_path / "folder"
    os.mkfifo(fifo)
    script = f"""
from pathlib import Path
from npu_assay.cache import folder_lock
from npu_assay.logged import run_logged
with folder_lock(Path({str(folder)!r})):
    tool = ["sh", "-c", "echo begun >{fifo}; cat {fifo}"]
    run_logged(tool, Path({str(tmp_path / "log")!r}), doing="waiting", variables={{"PATH": "/usr/bin:/bin"}})
"""
    with subprocess.Popen([sys.executable, "-c", script]) as installer:
        assert fifo.read_text() == "begun\n"
        installer.kill()
    waited: list[str] = []

    def waiting() -> None:
        waited.append("for the tool")
        fifo.write_text("end\n")

    with folder_lock(folder, waiting):
        assert waited == ["for the tool"]
    with folder_lock(folder, waiting):
        assert waited == ["for the tool"], "nobody is left who holds it"
