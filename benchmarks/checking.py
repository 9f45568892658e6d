"""How long an archive's files take to be checked, and how much memory."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from contest import Contest

from npu_assay.errors import AssayError
from npu_assay.evidence.archive import Archive, seal

WORKER = Path(__file__).with_name("check_worker.py")
_MIB = 1 << 20
_BIG_FILES, _SMALL_FILES = 4, 2000
_SMALL_BYTES = 2_000


def contests(scratch: Path, megabytes: int) -> Iterator[Contest]:
    """Big files of so many MB and many small ones, checked in all ways; a tenth of it for the memory."""
    big, small = scratch / "big", scratch / "small"
    for root, size in ((big, megabytes), (small, megabytes // 10)):
        plant(root, size * 1_000_000)
    what = f"{_BIG_FILES} x {megabytes} MB and {_SMALL_FILES:,} small files"
    yield Contest(
        f"checking {what}, against hashlib on two threads",
        ours=lambda: _work("check", big)["seconds"],
        theirs=lambda: _work("loop", big)["seconds"],
        most=1.15,
    )
    yield Contest(
        "the same against `sha256sum -c`",
        ours=lambda: _work("check", big)["seconds"],
        theirs=lambda: _sha256sum(big),
    )
    yield Contest(
        "its memory against that for a tenth of the bytes",
        ours=lambda: _work("check", big)["peak_bytes"],
        theirs=lambda: _work("check", small)["peak_bytes"],
        most=1.1,
        unit="MiB",
        scale=_MIB,
    )


def plant(root: Path, big: int) -> None:
    """Files as an archive has them, sealed; the bytes are random, and no two files alike."""
    (root / "results").mkdir(parents=True)
    block = os.urandom(_MIB)
    for number in range(_BIG_FILES):
        with (root / f"big-{number}.log").open("wb") as file:
            file.write(number.to_bytes(8))
            left = big - 8
            while left > 0:
                left -= file.write(block[:left])
    for number in range(_SMALL_FILES):
        path = root / "results" / f"{number % 50}" / f"small-{number}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(number.to_bytes(8) + block[:_SMALL_BYTES])
    seal(Archive(root))


def verify_contest(archive: Path) -> Contest:
    """The whole command on a real archive, beside the plain loop over its files: for information."""
    command = [sys.executable, "-m", "npu_assay", "verify", "--mode", "limited", str(archive)]
    return Contest(
        f"`verify` of a real archive ({_files(archive)} files), start of Python included, against the loop",
        ours=lambda: _seconds_of(command, may_end_with=(0, 1, 3)),
        theirs=lambda: _work("loop", archive)["seconds"],
    )


def _files(archive: Path) -> int:
    return len((archive / "SHA256SUMS").read_text().splitlines())


def _work(way: str, root: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, str(WORKER), way, str(root)], capture_output=True, text=True)
    if done.returncode:
        raise AssayError(f"{WORKER.name} {way} {root}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _sha256sum(root: Path) -> float:
    return _seconds_of(["sha256sum", "--check", "--quiet", "SHA256SUMS"], folder=root)


def _seconds_of(
    command: list[str], *, folder: Path | None = None, may_end_with: tuple[int, ...] = (0,)
) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - began
    if done.returncode not in may_end_with:
        raise AssayError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
    return seconds
