"""What real torch-npu on the emulator does as a process: bad settings, its end, forks, and stray pointers."""

import signal
import subprocess
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment

pytestmark = pytest.mark.environment

HEALTHY = "import torch; print(torch.ones(3, device='npu').sum().item())"


def run(
    environment: Environment, folder: Path, program: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in the environment; a hang is a failure."""
    return subprocess.run(
        [environment.python, "-W", "error::RuntimeWarning", "-c", program],
        cwd=folder,
        env=environment.variables(adaptations=False) | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("EMUCANN_DEVICES", "none", "expected a whole number from 1 to 16"),
        ("EMUCANN_FAULT", "flip-h2d", "expected flip-h2d:N, flip-d2h:N or stall:STREAM:MICROSECONDS"),
    ],
)
def test_a_setting_that_can_not_be_read_is_one_clear_line(
    environment: Environment, tmp_path: Path, variable: str, value: str, expected: str
) -> None:
    finished = run(environment, tmp_path, HEALTHY, **{variable: value})
    assert finished.returncode == 1
    assert "3.0" not in finished.stdout
    (line,) = {line.strip() for line in finished.stderr.splitlines() if variable in line}
    assert line.startswith(f"emucann: {variable}={value}: {expected}")


PENDING = {
    "nothing": "",
    "queued ops": "x = torch.ones(300, 300, device='npu')\nfor _ in range(500): x = x @ x",
    "a stalled stream": "stall(torch.npu.current_stream())\ntorch.ones(3, device='npu').add_(1)",
    "an unreached event": """
side = torch.npu.Stream()
stall(side)
event = torch.npu.Event()
event.record(side)
torch.npu.current_stream().wait_event(event)
torch.ones(3, device='npu').add_(1)
""",
    "a pinned copy": """
stall(torch.npu.current_stream())
torch.empty(1000, pin_memory=True).copy_(torch.ones(1000, device='npu'), non_blocking=True)
""",
}

PREAMBLE = """
import ctypes, torch
torch.ones(3, device='npu')
runtime = ctypes.CDLL('libascendcl.so')
runtime.emucann_stall_stream.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
def stall(stream): assert runtime.emucann_stall_stream(stream.npu_stream, 300_000) == 0
"""


@pytest.mark.parametrize(
    ("pending", "queue"), [*((pending, "1") for pending in PENDING), ("a stalled stream", "0")]
)
def test_the_end_of_a_process_is_clean(
    environment: Environment, tmp_path: Path, pending: str, queue: str
) -> None:
    program = PREAMBLE + PENDING[pending] + "\nprint('end of program')"
    finished = run(environment, tmp_path, program, TASK_QUEUE_ENABLE=queue)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "end of program\n", "")


def test_an_error_that_nobody_asked_for_is_no_crash_at_the_end(
    environment: Environment, tmp_path: Path
) -> None:
    program = """
import torch
torch.gather(torch.ones(3, device='npu'), 0, torch.tensor([9], device='npu'))
print('end')
"""
    finished = run(environment, tmp_path, program)
    assert (finished.returncode, finished.stdout) == (0, "end\n")


def test_the_host_can_not_read_device_memory(environment: Environment, tmp_path: Path) -> None:
    program = """
import ctypes, torch
host, device = torch.arange(4), torch.arange(4, device='npu')
torch.npu.synchronize()
print(ctypes.c_int64.from_address(host.data_ptr() + 8).value, flush=True)
print(ctypes.c_int64.from_address(device.data_ptr() + 8).value, flush=True)
"""
    finished = run(environment, tmp_path, program)
    assert finished.stdout == "1\n"
    assert finished.returncode == -signal.SIGSEGV


def test_a_forked_child_is_told_and_leaves_its_parent_alone(environment: Environment, tmp_path: Path) -> None:
    program = """
import os, torch
x = torch.ones(3, device='npu')
torch.npu.synchronize()
child = os.fork()
if child == 0:
    torch.npu.synchronize()  # nothing was pending
    try:
        x.add_(1)
    except RuntimeError as error:
        print('child:', 'was forked' in str(error), flush=True)
    os._exit(0)  # as multiprocessing ends its children
print('child ended with', os.waitpid(child, 0)[1])
print((x + 1).sum().item())
"""
    # With the queue on, the child would wait for torch-npu's own thread, which it does not have either.
    finished = run(environment, tmp_path, program, TASK_QUEUE_ENABLE="0")
    assert finished.stdout == "child: True\nchild ended with 0\n6.0\n", finished.stderr
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_spawned_child_has_devices_of_its_own(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("""
import multiprocessing, torch

def double(value):
    return (torch.tensor(value, device='npu') * 2).item()

if __name__ == '__main__':
    torch.ones(3, device='npu')
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        print(pool.map(double, [1, 2, 3]))
""")
    finished = run(environment, tmp_path, "import runpy; runpy.run_path('program.py', run_name='__main__')")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "[2, 4, 6]\n"


def test_a_flipped_byte_reaches_python(environment: Environment, tmp_path: Path) -> None:
    program = """
import torch
sent = torch.zeros(1000, dtype=torch.uint8)
print([int((sent.npu().cpu() != sent).sum()) for _ in range(4)])
"""
    assert run(environment, tmp_path, program, EMUCANN_FAULT="flip-h2d:2").stdout == "[0, 1, 0, 0]\n"
    assert run(environment, tmp_path, program, EMUCANN_FAULT="flip-d2h:4").stdout == "[0, 0, 0, 1]\n"
