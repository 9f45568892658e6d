"""Whether there is room on a disk, asked before anything is written to it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from npu_assay.errors import UnusableError

OF_THE_CACHE = "make room with npu-assay env prune, or name another folder with NPU_ASSAY_CACHE"


class _Usage(Protocol):
    @property
    def free(self) -> int: ...


def require_free(
    folder: Path,
    needed_mib: int,
    what: str,
    advice: str,
    usage: Callable[[Path], _Usage] = shutil.disk_usage,
) -> None:
    """Raises UnusableError when the disk that `folder` is or will be on has not so many MiB free.

    `what` needs them; `advice` says what to do.
    """
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    try:
        free_mib = usage(there).free >> 20
    except OSError as error:
        raise UnusableError(f"{there}: can't tell how much room there is: {error.strerror}") from error
    if free_mib < needed_mib:
        raise UnusableError(f"{folder}: {free_mib} MiB free, {what} needs {needed_mib} MiB; {advice}")
