"""Archives of another's making: whatever the bytes, a finding that says what is wrong, in bounded memory."""

import subprocess
import sys

import pytest
from offload_archive import OffloadArchive
from planted_tests import names_of_tests

GIB = 1 << 30
#: More than may be resident, and hashed in half the time.
HALF_GIB = GIB >> 1
#: The interpreter and npu-assay take 90 MB.
MOST_RESIDENT = 300 << 20

JUDGE = """
import sys
from pathlib import Path
from npu_assay.claims.case import Mode
from npu_assay.claims.presentation import as_text
from npu_assay.claims.verdict import verify
print(as_text(verify(Path(sys.argv[1]), Mode.EMULATED)))
# proc(5): the peak of this program; getrusage(2) would begin with that of the process which started it.
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(int(peak.split()[1]) * 1024, file=sys.stderr)
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
    "npu-smi's output": (
        lengthen("device/npu-smi-info.txt", HALF_GIB),
        "npu-smi-info.txt: expected at most 4194304 bytes, found 536870912",
    ),
    "a version file of CANN": (
        lengthen("cann/toolkit/ascend_toolkit_install.info", HALF_GIB),
        "ascend_toolkit_install.info: more than 1048576 bytes",
    ),
    "the record of the source": (
        lengthen("source/source.json", HALF_GIB),
        "source.json: expected at most 4194304 bytes, found 536870912",
    ),
    "the listing of the source": (
        lengthen("source/files.sha256", HALF_GIB),
        "files.sha256: expected at most 67108864 bytes, found 536870912",
    ),
    "the lock": (lengthen("inputs/lock.toml", HALF_GIB), "lock.toml: not a lock: more than 4194304 bytes"),
    "the pipeline": (
        lengthen("inputs/pipeline.toml", HALF_GIB),
        "inputs/pipeline.toml: expected at most 1048576 bytes, found 536870912",
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


def first_test_called(name: str):
    def change(offload: OffloadArchive) -> None:
        offload.replace_once("stages/unit.junit.xml", f'name="{FIRST}"', f'name="{name}"')

    return change


FIRST = names_of_tests("unit")[0].partition("::")[2]
STRANGE = {
    "control characters in JUnit": (
        first_test_called("\x1b[2J"),
        "stages/unit.junit.xml:2: not XML (not well-formed (invalid token))",
    ),
    "a change of direction in JUnit": (first_test_called("\u202egood"), r"::\u202egood, its suite has 0"),
    "a path in JUnit": (first_test_called("../../../../etc/passwd"), "::../../../../etc/passwd, its suite"),
    "entities in JUnit": (
        lambda o: o.prepend("stages/unit.junit.xml", '<!DOCTYPE a [<!ENTITY b "c">]>'),
        "stages/unit.junit.xml:1: ",
    ),
    "a log that is no text": (
        lambda o: (o.root / "stages/unit.log").write_bytes(b"\xff\xfe\x00FAILED\xc3(" * 1000),
        "unit: 0 lines say that a session starts",
    ),
    "a path in the log's rows": (
        lambda o: o.append("stages/native-high-level.log", "row: results/../../x sha256 " + "0" * 64 + "\n"),
        "changed: sha256 is",
    ),
    "results nested too deep": (
        lambda o: o.write("results/kv-offload.jsonl", '{"run": ' + "[" * 100_000),
        "results/kv-offload.jsonl:1: expected one JSON object, maximum recursion depth exceeded",
    ),
    "results with control characters": (
        lambda o: o.replace_once("results/kv-offload.jsonl", '"native"', r'"\u001b[2J\u202e\ud800"'),
        r"a round of backend '\x1b[2J\u202e\ud800', expected native",
    ),
    "a backend of a million characters": (
        lambda o: o.replace_once("results/kv-offload.jsonl", '"native"', f'"{"a" * 1_000_000}"'),
        "a round of backend 'aaaaaaaa",
    ),
    "a million lines of which there ought to be one": (
        lambda o: o.append("stages/versions-and-paths.log", "torch 2.9.0 /x\n" * 1_000_000),
        "torch: 1000 lines name its version and file",
    ),
    "a process map of a million lines": (
        lambda o: o.append("stages/native-transfer.log", "process-map: /x/libascendcl.so\n" * 1_000_000),
        "stages/native-transfer.log: expected at most 100000 lines with `process-map: `, found more",
    ),
    "results of a million rows": (
        lambda o: o.write("results/kv-offload.jsonl", "{}\n" * 1_000_000),
        "more than 10000 findings; the others are left out",
    ),
}


@pytest.mark.parametrize(("change", "message"), STRANGE.values(), ids=STRANGE)
def test_what_is_strange_is_a_printable_finding_and_nothing_is_written(offload, change, message):
    offload.seal()
    assert "verdict: EMULATED pass" in judge(offload)
    change(offload)
    before = sorted(offload.root.parent.rglob("*"))
    said = judge(offload)
    assert message in said
    assert "verdict: EMULATED fail" in said
    assert all(line.isprintable() and len(line) < 3000 for line in said.splitlines())
    assert sorted(offload.root.parent.rglob("*")) == before
