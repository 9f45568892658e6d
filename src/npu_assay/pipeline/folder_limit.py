"""How much a folder holds, asked again and again while something writes into it."""

import os
import time
from pathlib import Path

_SHORTEST_PAUSE = 1.0
_PAUSES_PER_LOOK = 20
"""Looking takes 5 % of the time at most, however many files there are."""


class FolderLimit:
    """A folder, and how many bytes it may take on the disk."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._next_look = 0.0

    def exceeded(self) -> bool:
        """Whether it holds more. Cheap: it is not looked at each time, but about once a second."""
        began = time.monotonic()
        if began < self._next_look:
            return False
        exceeds = disk_bytes(self.folder) > self.limit
        now = time.monotonic()
        self._next_look = now + max(_SHORTEST_PAUSE, _PAUSES_PER_LOOK * (now - began))
        return exceeds


def disk_bytes(folder: Path) -> int:
    """What everything in the folder takes on the disk; files that vanish meanwhile count as nothing.

    A sparse file takes what was written, a file with several names counts with each. Links are not followed.
    """
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_blocks * 512  # noqa: PTH118  (many files)
            except OSError:
                continue
    return total
