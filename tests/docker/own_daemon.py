"""A dockerd of the tests' own, beside whatever daemon the machine has.

It runs in a process and a mount namespace of its own: however it ends, the kernel ends all of its
containers with its first process, and its mounts go with the last one. It has the host's network, of which
it changes nothing but that it is given a bridge of its own, which leads nowhere: without one it would
delete docker0, whosoever that is, and rules for packets are shared by all daemons. So builds have the
host's network, or none. What outlives it is its data: images and the builds' cache; a bridge and a folder
in /tmp only where all was killed, until the next one.
"""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import PATH

#: Seconds; a daemon that is up needs one or two, on a machine that is busy many more.
START = 120
STOP = 60

_VARIABLES = {**os.environ, "PATH": PATH}


class DaemonError(Exception):
    """The daemon did not come up."""


@contextmanager
def running(data: Path) -> Iterator[str]:
    """Start a daemon whose images are in `data`, and end it; yields the value of DOCKER_HOST.

    One daemon at a time uses a folder: the next one waits. The lock is handed down, so that it is held until
    the daemon has ended, even when this process is killed; the daemon is told by the kernel and ends, too.
    """
    data.mkdir(parents=True, exist_ok=True)
    with (data / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _remove_left_over(data)
        # Short: containerd puts sockets far below it, whose whole path may have 108 bytes.
        state = Path(tempfile.mkdtemp(prefix="npu-assay-", dir="/tmp"))
        (data / "state").symlink_to(state)
        daemon = _start(data, state, lock.fileno())
        try:
            _wait(daemon, state / "sock", data / "dockerd.log")
            yield f"unix://{state / 'sock'}"
        finally:
            _stop(daemon)
            _remove_left_over(data)


def _remove_left_over(data: Path) -> None:
    """Remove the sockets and such of the daemon that had this folder; under the lock, when it has ended."""
    link = data / "state"
    if link.is_symlink():
        state = link.readlink()
        subprocess.run(
            ["ip", "link", "delete", _bridge(state)], env=_VARIABLES, capture_output=True, check=False
        )
        shutil.rmtree(state, ignore_errors=True)
        link.unlink()


def _bridge(state: Path) -> str:
    """The name of the bridge, of 15 characters at most."""
    return f"assay-{state.name[-8:]}"


def _make_bridge(state: Path) -> str:
    name = _bridge(state)
    for words in (
        ["link", "add", name, "type", "bridge"],
        ["address", "add", "169.254.77.1/24", "dev", name],  # of the range that nobody routes
        ["link", "set", name, "up"],
    ):
        subprocess.run(["ip", *words], env=_VARIABLES, check=True)
    return name


def _start(data: Path, state: Path, lock: int) -> subprocess.Popen[bytes]:
    # unshare(1) ignores SIGTERM itself and passes it on to the daemon when it dies, and dies when we do.
    command = ["setpriv", "--pdeathsig", "KILL"]
    command += ["unshare", "--mount", "--propagation", "slave", "--pid", "--fork", "--mount-proc"]
    command += ["--kill-child=TERM", "--", "dockerd"]
    command += ["--data-root", str(data / "data"), "--exec-root", str(state / "exec")]
    command += ["--pidfile", str(state / "pid"), "--host", f"unix://{state / 'sock'}"]
    command += ["--config-file", str(state / "daemon.json"), "--shutdown-timeout", "5"]
    command += ["--bridge", _make_bridge(state)]
    command += ["--iptables=false", "--ip6tables=false", "--ip-masq=false", "--ip-forward=false"]
    command += ["--storage-driver=overlay2", "--exec-opt", "native.cgroupdriver=cgroupfs"]
    command += ["--cgroup-parent=/npu-assay-tests"]
    # Not the machine's own settings. The builds' cache loses what was used longest ago.
    settings = {"builder": {"gc": {"enabled": True, "defaultKeepStorage": "20GB"}}}
    (state / "daemon.json").write_text(json.dumps(settings))
    with (data / "dockerd.log").open("wb") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[lock],
            start_new_session=True,  # Ctrl-C is for the tests, which then end it
            env=_VARIABLES,
        )


def _wait(daemon: subprocess.Popen[bytes], sock: Path, log: Path) -> None:
    deadline = time.monotonic() + START
    while daemon.poll() is None and time.monotonic() < deadline:
        if _answers(sock):
            return
        time.sleep(0.2)
    lines = log.read_text(errors="replace").splitlines() or ["it said nothing"]
    raise DaemonError(f"dockerd did not start: {lines[-1]}; the full log is {log}")


def _answers(sock: Path) -> bool:
    """Whether GET /_ping is answered with 200: https://docs.docker.com/reference/api/engine/."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(5)
        try:
            asked.connect(str(sock))
            asked.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b" 200 " in asked.recv(64)
        except OSError:
            return False


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    """SIGTERM to the daemon, the only child of unshare(1); after a minute SIGKILL, which ends all it runs."""
    for number, seconds in ((signal.SIGTERM, STOP), (signal.SIGKILL, STOP)):
        children = Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children")
        for child in children.read_text().split() if children.exists() else []:
            os.kill(int(child), number)
        try:
            daemon.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
        return
