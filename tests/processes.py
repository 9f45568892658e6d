"""Whether processes that tests started still run."""

import time
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether it has not ended; one that only waits for its parent has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ends(pid: int, seconds: float = 30) -> bool:
    """Whether it ends within that time: on a busy machine the kernel takes a while to act on SIGKILL."""
    deadline = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
