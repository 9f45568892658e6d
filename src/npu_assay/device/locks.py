"""One run a die: a file lock for each physical die, in a folder that the whole host shares.

The kernel drops a flock when the last process that holds the file open is gone, however it ended; so there is
no stale lock, and nothing to clean up. Runs in different containers exclude each other only when they share
the folder: mount it.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from npu_assay.device.die import Die
from npu_assay.errors import UnusableError

FOLDER_VARIABLE = "NPU_ASSAY_LOCKS"
_HOST_WIDE = Path("/var/lock")
"""World-writable on Debian and its kin, emptied at boot. XDG_RUNTIME_DIR would be one user's own."""


def lock_folder(variables: Mapping[str, str] = os.environ) -> Path:
    """Where the locks are: $NPU_ASSAY_LOCKS, else /var/lock/npu-assay, else a folder in the temporary one."""
    if chosen := variables.get(FOLDER_VARIABLE):
        return Path(chosen)
    parent = _HOST_WIDE if os.access(_HOST_WIDE, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return parent / "npu-assay"


def lock_name(die: Die) -> str:
    """One name a physical die. By bus id where there is one: a card's number differs inside a container."""
    chip = 0 if die.chip_id is None else die.chip_id
    if die.bus_id is not None:
        return f"die-{die.bus_id.lower().replace(':', '-')}-{chip}.lock"
    return f"die-npu-{die.npu_id}-{chip}.lock"


@dataclass
class DieLock:
    """A held lock; `descriptor` can be handed down to a process, which then holds it too."""

    die: Die
    descriptor: int

    def release(self) -> None:
        """Give it back; a process that it was handed to keeps it."""
        with suppress(OSError):
            os.close(self.descriptor)


def try_lock(die: Die, folder: Path) -> DieLock | None:
    """Take a die's lock, or None when another run has it. Raises UnusableError when no lock can be made."""
    path = folder / lock_name(die)
    try:
        descriptor = _open(path)
    except OSError as error:
        raise UnusableError(
            f"{path}: no lock can be made here ({error.strerror}); "
            f"set {FOLDER_VARIABLE} to a folder that every user of this host can write"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    with suppress(OSError):  # only for whoever wonders who holds it
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    return DieLock(die, descriptor)


def holder(die: Die, folder: Path) -> str:
    """Who says to hold a die's lock: a process id, or `another run`."""
    try:
        pid = (folder / lock_name(die)).read_text().strip()
    except (OSError, ValueError):
        pid = ""
    return f"process {pid}" if pid.isdigit() else "another run"


def _open(path: Path) -> int:
    """Open a lock file that other users may have made, and that they may open in turn."""
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True)
        path.parent.chmod(0o1777)
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        # No O_CREAT: in a sticky folder the kernel refuses it for another user's file (fs.protected_regular).
        descriptor = os.open(path, os.O_RDWR | flags)
    except FileNotFoundError:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, 0o666)
            os.fchmod(descriptor, 0o666)
        except FileExistsError:  # somebody was faster
            descriptor = os.open(path, os.O_RDWR | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "no regular file", str(path))
    return descriptor
