"""Checks the files of an archive in a process of its own, in one of two ways, and says what that took.

    python check_worker.py check|loop ARCHIVE

`check` is npu-assay's, `loop` the least that could do it: hashlib on two threads. Prints
`{"seconds": s, "peak_bytes": n}`; the peak is the whole process's, as the kernel counts it.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from npu_assay.evidence.archive import Archive, check

THREADS = 2


def check_archive(root: Path) -> None:
    """npu-assay's own."""
    if problems := check(Archive(root)):
        raise SystemExit(f"{problems[0]}: the archive was to be good")


def hash_all(root: Path) -> None:
    """Hash what SHA256SUMS lists, and compare."""

    def digest(name: str) -> str:
        with (root / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    lines = (root / "SHA256SUMS").read_text().splitlines()
    listed = {name: sha256 for sha256, name in (line.split("  ", 1) for line in lines)}
    with ThreadPoolExecutor(THREADS) as pool:
        if dict(zip(listed, pool.map(digest, listed), strict=True)) != listed:
            raise SystemExit("the archive was to be good")


def peak_bytes() -> int:
    """The most memory this program has had: ru_maxrss would begin with that of who started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("/proc/self/status has no VmHWM: this is no Linux")


WAYS: dict[str, Callable[[Path], None]] = {"check": check_archive, "loop": hash_all}

if __name__ == "__main__":
    way, root = WAYS[sys.argv[1]], Path(sys.argv[2])
    began = time.perf_counter()
    way(root)
    print(json.dumps({"seconds": time.perf_counter() - began, "peak_bytes": peak_bytes()}))
