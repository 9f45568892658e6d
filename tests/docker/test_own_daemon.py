"""The tests' own daemon: it runs beside another one, and leaves nothing behind however it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from engine import Engine
from own_bridge import add_bridge, remove_bridge
from own_daemon import running
from processes import ends, is_alive

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]


def bridges() -> set[str]:
    """Of this machine."""
    return {link.parent.name for link in Path("/sys/class/net").glob("*/bridge")}


def test_it_answers(engine: Engine) -> None:
    assert "overlay2" in engine.docker("info", "--format", "{{.Driver}}").stdout


def test_the_bridge_of_the_machines_own_daemon_stays(tmp_path: Path) -> None:
    before = bridges()
    if "docker0" not in before:
        add_bridge("docker0")
    try:
        with running(tmp_path / "data"):
            assert bridges() >= {"docker0", *before}
            assert len(bridges() - before - {"docker0"}) == 1
        assert bridges() == {"docker0", *before}
    finally:
        if "docker0" not in before:
            remove_bridge("docker0")


def state_of(data: Path) -> tuple[Path, int]:
    """The daemon's folder in /tmp, and its pid as the host counts."""
    state = (data / "state").readlink()
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == b"dockerd" and str(state / "sock").encode() in b"\0".join(words):
            return state, int(process.name)
    raise AssertionError(f"no dockerd of {state}")


USER = """\
import sys, time
from pathlib import Path
from own_daemon import running
with running(Path(sys.argv[1])):
    print("up", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize(
    "end",
    [
        lambda tests, _: tests.send_signal(signal.SIGINT),
        lambda tests, _: tests.kill(),
        lambda tests, daemon: (os.kill(daemon, signal.SIGKILL), tests.kill()),
    ],
    ids=["Ctrl-C", "the tests are killed", "both are killed"],
)
def test_nothing_is_left_of_it(end: Callable[[subprocess.Popen[str], int], object], tmp_path: Path) -> None:
    data, before = tmp_path / "data", bridges()
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    tests = subprocess.Popen(
        [sys.executable, "-c", USER, str(data)], env=variables, stdout=subprocess.PIPE, text=True
    )
    assert tests.stdout is not None
    assert tests.stdout.readline() == "up\n"
    state, daemon = state_of(data)
    assert is_alive(daemon)
    end(tests, daemon)
    tests.communicate()
    assert ends(daemon)
    assert str(data) not in Path("/proc/mounts").read_text()
    with running(data) as host:  # which waits until the other one has given the folder back
        assert host != f"unix://{state / 'sock'}"
        assert not state.exists()
    assert not (data / "state").is_symlink()
    assert bridges() <= before
