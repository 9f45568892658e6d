"""Archives of another's making: whatever the bytes, a finding that says what is wrong, in bounded memory."""

import subprocess
import sys

import pytest
from offload_archive import OffloadArchive

GIB = 1 << 30
#: The interpreter and npu-assay take 90 MB.
MOST_RESIDENT = 300 << 20

JUDGE = """
import resource, sys
from pathlib import Path
from npu_assay.claims.case import Mode
from npu_assay.claims.presentation import as_text
from npu_assay.claims.verdict import verify
print(as_text(verify(Path(sys.argv[1]), Mode.EMULATED)))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
"""


def judge(offload: OffloadArchive) -> str:
    """What a process of its own says of the archive; its memory is checked."""
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, str(offload.root)], capture_output=True, text=True, check=True
    )
    assert int(done.stderr) < MOST_RESIDENT
    return done.stdout


def lengthen(name: str, size: int):
    """Make a file that long, with bytes that take no room on the disk."""

    def change(offload: OffloadArchive) -> None:
        with (offload.root / name).open("r+b") as file:
            file.truncate(size)

    return change


LONG = {
    "a line of a log": (lengthen("stages/unit.log", GIB), "stages/unit.log: changed"),
    "ruff's log": (lengthen("stages/ruff.log", GIB), "ruff/2"),
    "results": (
        lengthen("results/kv-offload.jsonl", GIB),
        "results/kv-offload.jsonl: expected at most 33554432 bytes, found 1073741824",
    ),
    "a row of results": (
        lengthen("results/tokens-equal-cpu.jsonl", 32 << 20),
        "results/tokens-equal-cpu.jsonl:4: expected a JSON object of at most 1048576 bytes",
    ),
    "environment.json": (
        lengthen("environment.json", GIB),
        "environment.json: expected at most 16777216 bytes, found 1073741824",
    ),
}


@pytest.mark.parametrize(("change", "message"), LONG.values(), ids=LONG)
def test_a_file_of_a_gigabyte_is_judged_in_little_memory(offload, change, message):
    offload.seal()
    assert "verdict: EMULATED pass" in judge(offload)
    change(offload)
    said = judge(offload)
    assert message in said
    assert "verdict: EMULATED fail" in said
