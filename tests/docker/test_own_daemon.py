"""The tests' own daemon: it runs beside another one, and leaves nothing behind however it ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine import PATH
from own_daemon import running
from processes import ends, is_alive

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker"), pytest.mark.usefixtures("installed")]


@pytest.fixture
def neighbours_bridge() -> Iterator[str]:
    """docker0, as another daemon has it; made where there is none."""
    made = subprocess.run(
        ["ip", "link", "add", "docker0", "type", "bridge"], capture_output=True, check=False
    )
    yield "docker0"
    if made.returncode == 0:
        subprocess.run(["ip", "link", "delete", "docker0"], check=True)


def test_it_changes_nothing_of_the_machines_network(neighbours_bridge: str, tmp_path: Path) -> None:
    def seen() -> tuple[set[str], str]:
        command = ["iptables-save"] if shutil.which("iptables-save", path=PATH) else ["true"]
        rules = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": PATH}).stdout
        counted = re.sub(r"\[\d+:\d+\]|^#.*", "", rules, flags=re.MULTILINE)
        return {path.name for path in Path("/sys/class/net").iterdir()}, counted

    before = seen()
    assert neighbours_bridge in before[0]
    with running(tmp_path / "data"):
        links, rules = seen()
        assert {link.partition("-")[0] for link in links - before[0]} == {"assay"}
        assert rules == before[1]
    assert seen() == before


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
    data = tmp_path / "data"
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
        assert not Path("/sys/class/net", f"assay-{state.name[-8:]}").exists()
    assert not (data / "state").is_symlink()
