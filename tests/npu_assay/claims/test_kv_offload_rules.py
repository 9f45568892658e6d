"""Each rule of the KV offloading result: the good archive passes, one fault is found by the right rule."""

import json
import tracemalloc

import pytest
from offload_archive import (
    ASCEND,
    CLOSING_RULE,
    IDENTITY,
    LIBRARY,
    NOTHING_RUNS,
    PROCESS,
    SETTINGS,
    OffloadArchive,
    comparison,
    messages,
    pytest_log,
    round_row,
    stage_junit,
)
from planted_run import device_of
from planted_tests import junit, names_of_tests

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.rules.offload_rounds import reusable_tokens
from npu_assay.claims.verdict import verify
from npu_assay.evidence.manifest import ModelRecord, StageStatus

VERSIONS = "stages/versions-and-paths.log"
TOOLKIT = "cann/toolkit/ascend_toolkit_install.info"
ATB = "cann/atb/version.info"
CANN = f"{ASCEND}/cann-9.0.0/x86_64-linux"
FAILURE = '<failure message="no">no</failure>'
SKIP = '<skipped type="pytest.skip" message="no"/>'
TWICE = f'<testcase classname="{names_of_tests("unit")[-1].replace("::", chr(34) + " name=" + chr(34))}"/>'
XFAIL = '<skipped type="pytest.xfail" message="no"/>'


def rounds(*rows: dict[str, object]):
    return lambda offload: offload.write_rounds(*rows)


def round_2(**changes: object):
    return rounds(round_row(1), round_row(2, **changes), round_row(3))


def comparisons(*rows: dict[str, object]):
    return lambda offload: offload.write_comparisons(*rows)


def compared(**changes: object):
    """The second of the comparisons otherwise."""
    return comparisons(comparison(1), comparison(7, **changes), comparison(300))


HIGH = "stages/native-high-level.log"


def log(stage: str, text: str):
    return lambda offload: offload.write(f"stages/{stage}.log", text)


UNIT = names_of_tests("unit")
TESTS = len(UNIT)


def unit(summary: str, *outcomes: str):
    """The log's last line, and how the first tests end by JUnit."""

    def change(offload: OffloadArchive) -> None:
        offload.write("stages/unit.log", pytest_log(summary))
        offload.write("stages/unit.junit.xml", stage_junit("unit", *outcomes))

    return change


FAULTS = {
    "manifest says hardware": (
        lambda o: o.change_manifest(device=device_of("hardware")),
        "identity/2: the manifest says hardware, but the loaded CANN is emulated",
    ),
    "log says hardware": (
        lambda o: o.replace(VERSIONS, IDENTITY, "hardware V100R001C10SPC001B250"),
        "identity/2: the manifest says emulated, but the loaded CANN is hardware",
    ),
    "identity unknown": (
        lambda o: o.replace(VERSIONS, IDENTITY, "something"),
        "identity/2: expected EMULATED or hardware and a build, found 'cann-identity: something'",
    ),
    "identity missing": (
        lambda o: o.replace(VERSIONS, "cann-identity", "identity"),
        "identity/2: expected exactly one line `cann-identity: ...`",
    ),
    "identity twice": (
        lambda o: o.replace(VERSIONS, "cann-identity", "cann-identity: hardware B250\ncann-identity"),
        "identity/2: expected exactly one line `cann-identity: ...`",
    ),
    "environment.json disagrees": (
        lambda o: o.replace("environment.json", IDENTITY, "hardware B250"),
        "identity/2: environment.json says 'hardware B250', the log says 'cann-identity: EMULATED",
    ),
    "environment.json malformed": (
        lambda o: o.write("environment.json", "[]"),
        "identity/2: environment.json: expected a JSON object, found b'[]'",
    ),
    "environment.json nested too deep": (
        lambda o: o.write("environment.json", "[" * 100_000),
        "identity/2: environment.json: expected one JSON object, maximum recursion depth exceeded",
    ),
    "library not recorded": (
        lambda o: o.replace(VERSIONS, "process-map: ", "map: "),
        "identity/2: no line `process-map: .../libascendcl.so` in the log",
    ),
    "library not recorded in a later stage": (
        lambda o: o.replace("stages/native-transfer.log", "process-map: ", "map: "),
        "in the log stages/native-transfer.log",
    ),
    "another version loaded": (
        lambda o: o.replace(VERSIONS, "vllm-ascend 0.18.0", "vllm-ascend 0.18.1"),
        "versions/3: vllm-ascend: 0.18.1 was loaded, the run asks for 0.18.0",
    ),
    "a post release is another version": (
        lambda o: o.replace(VERSIONS, "2.9.0.post2", "2.9.0"),
        "versions/3: torch-npu: 2.9.0 was loaded, the run asks for 2.9.0.post2",
    ),
    "version not recorded": (
        lambda o: o.replace(VERSIONS, "vllm 0.18.0 /", "vllm 0.18.0 "),
        "versions/3: vllm: 0 lines name its version and file",
    ),
    "another library in a stage": (
        lambda o: o.replace(
            "stages/native-high-level.log", LIBRARY, "/usr/local/Ascend/lib64/libascendcl.so.1"
        ),
        "identity/2: stages loaded different ones: ",
    ),
    "no CANN files kept": (
        lambda o: (o.root / "cann/files.json").unlink(),
        "cann/2: cann/files.json: can't be read",
    ),
    "CANN files listed twice": (
        lambda o: o.replace("cann/files.json", '"version-cfg"', '"toolkit"'),
        "cann/2: cann/files.json: files: Value error, toolkit stands twice",
    ),
    "a listed CANN file is not there": (
        lambda o: (o.root / "cann/atb/version.info").unlink(),
        "cann/2: cann/atb/version.info: missing; files.json lists it",
    ),
    "install info malformed": (
        lambda o: o.replace(TOOLKIT, "version=9.0.0\n", "version=9.0.0\nversion=9.0.0\n"),
        f"cann/2: {TOOLKIT}:3: version stands twice",
    ),
    "another CANN than the lock's": (
        lambda o: o.replace(TOOLKIT, "=9.0.0", "=9.0.1"),
        "cann/2: toolkit: version is 9.0.1, expected 9.0.0 by the lock",
    ),
    "another build than the lock's": (
        lambda o: o.change_manifest(
            environment=o.manifest.environment.model_copy(
                update={"builds": {"cann": "V100R001C10SPC001B250", "nnal": "EMULATED"}}
            )
        ),
        "cann/2: toolkit: innerversion is EMULATED, expected V100R001C10SPC001B250 by the lock",
    ),
    "an older ATB": (
        lambda o: o.write(ATB, "Ascend-cann-atb Version : 8.5.0.alpha001.EMULATED\n"),
        "cann/2: ATB is 8.5.0.alpha001, older than the toolkit, which is 9.0.0",
    ),
    "the driver is too old": (
        lambda o: o.replace("cann/driver/version.info", "Version=25.5.1+emulated", "Version=24.1.rc3"),
        "cann/2: driver 24.1.rc3 is too old for CANN 9.0.0",
    ),
    "the log and the install info name two builds": (
        lambda o: o.replace(TOOLKIT, "=EMULATED", "=V100R001C10SPC001B250"),
        "the kept install info says V100R001C10SPC001B250",
    ),
    "a library of another CANN": (
        lambda o: o.replace(
            "stages/native-transfer.log",
            "process-map: ",
            "process-map: /usr/local/Ascend/cann-8.5.1/x86_64-linux/lib64/libhccl.so\nprocess-map: ",
        ),
        f"lib64/libhccl.so was loaded, which is not of the CANN in {ASCEND}/cann-9.0.0",
    ),
    "libatb out of the toolkit": (
        lambda o: o.replace(VERSIONS, "process-map: ", f"process-map: {CANN}/lib64/libatb.so\nprocess-map: "),
        f"cann/2: {CANN}/lib64/libatb.so was loaded, which is not of the atb in {ASCEND}/nnal/atb",
    ),
    "a stub was loaded": (
        lambda o: o.replace(
            VERSIONS, "process-map: ", f"process-map: {CANN}/devlib/libascend_hal.so\nprocess-map: "
        ),
        f"cann/2: {CANN}/devlib/libascend_hal.so was loaded, a stub to link against",
    ),
    "a library was replaced while it was loaded": (
        lambda o: o.replace(VERSIONS, LIBRARY, f"{LIBRARY} (deleted)"),
        f"cann/2: {LIBRARY} was replaced on disk while it was loaded",
    ),
    "unhealthy device": (
        lambda o: o.replace("device/npu-smi-info.txt", "| OK ", "| Bad"),
        "health/5: health: NPU 0 chip 0: health is Bad",
    ),
    "npu-smi output missing": (
        lambda o: (o.root / "device/npu-smi-info.txt").unlink(),
        "health/5: health: no npu-smi info, without which",
    ),
    "unhealthy after the run": (
        lambda o: o.replace("device/after/npu-smi-health-0-0.txt", ": OK", ": Alarm"),
        "health/5: health-after: NPU 0 chip 0: health is Alarm",
    ),
    "a process left on the die": (
        lambda o: o.replace("device/after/npu-smi-info.txt", NOTHING_RUNS, PROCESS),
        "health/5: health-after: NPU 0 chip 0: process 4711 (VLLMEngineCore, 2100 MiB) was left on it",
    ),
    "another die after the run": (
        lambda o: [
            o.replace(f"device/after/{name}", *words)
            for name, words in {
                "npu-smi-info.txt": ("| 0     910B3", "| 6     910B3"),
                "npu-smi-info-m.txt": ("0    0    0", "6    0    0"),
            }.items()
        ],
        "health/5: health-after: NPU 0 chip 0: there before the run, gone after it",
    ),
    "no output after the run": (
        lambda o: [path.unlink() for path in (o.root / "device/after").iterdir()],
        "device/after: no .txt file in it",
    ),
    "the NPU's die in use before the run": (
        lambda o: [
            o.replace("device/npu-smi-info.txt", *words)
            for words in (("+emulated", ""), (NOTHING_RUNS, PROCESS))
        ],
        "health/5: health: NPU 0 chip 0: used by process 4711",
    ),
    "npu-smi's output cut short": (
        lambda o: o.replace("device/npu-smi-info.txt", f"{NOTHING_RUNS}\n{CLOSING_RULE}\n", NOTHING_RUNS),
        "npu-smi-info.txt: cut short after line 13: '| No running processes found in NPU 0 |'",
    ),
    "npu-smi failed": (
        lambda o: o.write("device/npu-smi-info.txt", "dcmi module initialize failed. ret is -8005\n"),
        "health/5: ",
    ),
    "more dies recorded than shown": (
        lambda o: o.change_manifest(device=device_of("emulated", 0, 1)),
        "health/5: health: NPU 1 chip 0: taken by the manifest, but npu-smi shows no such die",
    ),
    "ruff found something": (
        log("ruff", "x.py:1:1: F821 Undefined name\nFound 1 error.\nAll checks passed!\n"),
        "ruff/2: expected 'All checks passed!' once and nothing else, found 'x.py:1:1: F821 Undefined name'"
        " stages/ruff.log:1",
    ),
    "ruff said something after it": (
        log("ruff", "All checks passed!\nTraceback\n"),
        "ruff/2: expected 'All checks passed!' once and nothing else, found 'Traceback' stages/ruff.log:2",
    ),
    "ruff log empty": (log("ruff", ""), "ruff/2: expected 'All checks passed!', found nothing"),
    "ruff ran twice": (
        log("ruff", "All checks passed!\n" * 2),
        "found 'All checks passed!' stages/ruff.log:2",
    ),
    "ruff checked nothing": (
        log("ruff", "warning: No Python files found under the given path(s)\nAll checks passed!\n"),
        "ruff/2: expected 'All checks passed!' once and nothing else, found 'warning: No Python files",
    ),
    "compileall said something": (
        log("compileall", "\n"),
        "compileall/1: expected a log of 0 bytes, found 1",
    ),
    "no tests": (unit("no tests ran"), "tests/2: unit: no test passed: no tests ran"),
    "all deselected": (unit("9 deselected"), "tests/2: unit: no test passed: 9 deselected"),
    "one deselected": (
        unit(f"{TESTS} passed, 1 deselected"),
        f"tests/2: unit: {TESTS} passed, 1 deselected",
    ),
    "a test failed": (
        unit(f"1 failed, {TESTS - 1} passed", "", FAILURE),
        f"tests/2: unit: {UNIT[1]} failed: no stages/unit.junit.xml:3",
    ),
    "a test skipped": (
        unit(f"{TESTS - 1} passed, 1 skipped", SKIP),
        f"tests/2: unit: {TESTS - 1} passed, 1 skipped in 0.77s",
    ),
    "a test xfailed": (
        unit(f"{TESTS - 1} passed, 1 xfailed", XFAIL),
        f"tests/2: unit: {UNIT[0]} xfailed: no stages/unit.junit.xml:2",
    ),
    "a test xpassed": (unit(f"{TESTS - 1} passed, 1 xpassed"), f"unit: {TESTS - 1} passed, 1 xpassed"),
    "a skip only in JUnit": (unit(f"{TESTS} passed", "", SKIP), f"tests/2: unit: {UNIT[1]} skipped"),
    "a skip only in the log": (
        unit(f"{TESTS - 1} passed, 1 skipped"),
        f"tests/2: unit: {TESTS - 1} passed, 1 skipped",
    ),
    "JUnit has fewer": (
        lambda o: o.write("stages/unit.junit.xml", junit(dict.fromkeys(UNIT[1:], ""))),
        f"tests/2: unit: {TESTS} passed by the log, {TESTS - 1} by JUnit",
    ),
    "log and JUnit have one test": (
        lambda o: (
            o.write("stages/unit.log", pytest_log("1 passed")),
            o.write("stages/unit.junit.xml", junit(dict.fromkeys(UNIT[:1], ""))),
        ),
        "tests/2: unit: 0 tests of tests.test_budget::test_gib_become_whole_bytes, its suite has 4",
    ),
    "a round's test was not run": (
        lambda o: (
            o.write("stages/native-high-level.log", pytest_log("6 passed")),
            o.write(
                "stages/native-high-level.junit.xml",
                junit(dict.fromkeys(names_of_tests("native-high-level", SETTINGS)[1:], "")),
            ),
        ),
        "native-high-level: 2 tests of native_high_level.test_rounds::test_round, its suite has 3",
    ),
    "a test stands in JUnit twice": (
        lambda o: o.write(
            "stages/unit.junit.xml",
            junit(dict.fromkeys(UNIT, "")).replace("</testsuite>", f"{TWICE}</testsuite>"),
        ),
        f"tests/2: {UNIT[-1]} stands there twice, first on line {TESTS + 1}"
        f" stages/unit.junit.xml:{TESTS + 2}",
    ),
    "JUnit's number of tests": (
        lambda o: o.replace("stages/unit.junit.xml", f'tests="{TESTS}"', 'tests="3"'),
        f"tests/2: <testsuite> says tests=3, but {TESTS} are in it stages/unit.junit.xml:1",
    ),
    "JUnit's number of failures": (
        lambda o: o.replace("stages/unit.junit.xml", 'failures="0"', 'failures="1"'),
        "tests/2: <testsuite> says failures=1, but 0 are in it stages/unit.junit.xml:1",
    ),
    "a red session before the green one": (
        lambda o: o.prepend("stages/unit.log", pytest_log("1 failed, 8 passed")),
        "tests/2: unit: an earlier summary line: 1 failed, 8 passed in 0.77s stages/unit.log:7",
    ),
    "a line of a failed test": (
        lambda o: o.replace("stages/unit.log", "process:", "FAILED tests/test_a.py::test - no\nprocess:"),
        "unit: not a line of a session that passed: 'FAILED tests/test_a.py::test - no' stages/unit.log:3",
    ),
    "a session that broke off with a failed test": (
        lambda o: o.replace(
            "stages/unit.log",
            f"{TESTS} passed",
            f"FAILED tests/test_a.py::test - no\n!!!!! stopping !!!!!\n1 failed, {TESTS} passed",
        ),
        "unit: not a line of a session that passed: '!!!!! stopping !!!!!'",
    ),
    "pytest broke": (
        lambda o: o.replace("stages/unit.log", "process:", "INTERNALERROR> Traceback\nprocess:"),
        "unit: not a line of a session that passed: 'INTERNALERROR> Traceback'",
    ),
    "other tests were collected": (
        lambda o: o.replace("stages/unit.log", f"collected {TESTS} items", f"collected {TESTS + 1} items"),
        f"unit: {TESTS + 1} tests were collected, but {TESTS} passed, 3 warnings in 0.77s",
    ),
    "no session began": (
        lambda o: o.replace("stages/unit.log", "===== test session starts =====\n", ""),
        "unit: 0 lines say that a session starts, expected one",
    ),
    "exit code 1 of a green session": (
        lambda o: o.change_stage("unit", exit_code=1),
        f"unit: the stage's exit code is 1, but {TESTS} passed",
    ),
    "a session longer than its stage": (
        lambda o: o.replace("stages/unit.log", "in 0.77s", "in 7654.32s (2:07:34)"),
        "unit: the session took 7654.32 s, all of the stage 19.5 s",
    ),
    "JUnit missing": (
        lambda o: (o.root / "stages/unit.junit.xml").unlink(),
        "stages/unit.junit.xml: can't be read",
    ),
    "JUnit in an unknown encoding": (
        lambda o: o.write("stages/unit.junit.xml", '<?xml version="1.0" encoding="x"?><testsuites/>'),
        "stages/unit.junit.xml:1: expected the encoding utf-8, which pytest writes, found x",
    ),
    "no summary": (log("unit", "Segmentation fault\n"), "tests/2: unit: no summary line of pytest"),
    "a round missing": (
        rounds(round_row(1), round_row(2)),
        "offload-rounds/2: 2 rounds of backend native, expected 3",
    ),
    "a round too many": (
        rounds(*(round_row(run) for run in (1, 2, 3, 4))),
        "offload-rounds/2: 4 rounds of backend native, expected 3",
    ),
    "a round of another backend": (round_2(backend="lmcache"), "2 rounds of backend native, expected 3"),
    "rounds of another backend beside them": (
        rounds(*(round_row(run) for run in (1, 2, 3)), round_row(4, backend="lmcache")),
        "a round of backend 'lmcache', expected native results/kv-offload.jsonl:4",
    ),
    "a run number twice": (round_2(run=1), "expected the runs numbered from 1 on, found [1, 1, 3]"),
    "run numbers from 0": (
        rounds(*(round_row(run, run=run - 1) for run in (1, 2, 3))),
        "expected the runs numbered from 1 on, found [0, 1, 2]",
    ),
    "rounds in another order": (
        rounds(round_row(2), round_row(1), round_row(3)),
        "expected the runs numbered from 1 on, found [2, 1, 3]",
    ),
    "a round passed off as another": (
        round_2(cold_token_ids=[1, 7, 7, 5] * 4, external_token_ids=[1, 7, 7, 5] * 4),
        "two rounds have the same tokens and the same seconds results/kv-offload.jsonl:1",
    ),
    "a prompt hash that is none": (round_2(prompt_sha256="abc"), "not a round: prompt_sha256: "),
    "a negative token id": (
        round_2(cold_token_ids=[-1] * 16, external_token_ids=[-1] * 16),
        "not a round: cold_token_ids.0: Input should be greater than or equal to 0",
    ),
    "a token id beyond any vocabulary": (
        round_2(cold_token_ids=[1 << 24] * 16, external_token_ids=[1 << 24] * 16),
        "not a round: cold_token_ids.0: Input should be less than 16777216",
    ),
    "a token id that is true": (round_2(cold_token_ids=[True] * 16), "not a round: cold_token_ids.0: "),
    "a token id that is a fraction": (round_2(cold_token_ids=[5.0] * 16), "not a round: cold_token_ids.0: "),
    "rounds of another kind of device": (
        round_2(device_kind="hardware"),
        "round 2: device_kind is 'hardware', the run's is emulated",
    ),
    "rounds of two dies": (
        round_2(tensor_parallel_size=2),
        "round 2: tensor_parallel_size is 2, the stage's setting is 1",
    ),
    "rounds longer than their stage": (
        round_2(cold_seconds=19.0),
        "the rounds took 21.900 s, all of the stage 19.5 s results/kv-offload.jsonl manifest.json",
    ),
    "tokens stored that the backend does not log": (
        round_2(stored_tokens=256),
        "offload-rounds/2: round 2: stored_tokens is 256, the native backend logs none",
    ),
    "a row changed after it was written": (
        lambda o: o.replace("results/kv-offload.jsonl", "0.7", "0.6"),
        "results/1: results/kv-offload.jsonl: row 1 is not what the stage wrote results/kv-offload.jsonl:1",
    ),
    "rows swapped and numbered anew": (
        lambda o: o.write(
            "results/kv-offload.jsonl",
            "".join(json.dumps(round_row(n, run=i)) + "\n" for i, n in enumerate((2, 1, 3), 1)),
        ),
        "results/1: results/kv-offload.jsonl: row 1 is not what the stage wrote",
    ),
    "a row more than was written": (
        lambda o: o.append("results/kv-offload.jsonl", json.dumps(round_row(4)) + "\n"),
        "results/1: results/kv-offload.jsonl: row 4 is in no stage's log results/kv-offload.jsonl:4",
    ),
    "a row less than was written": (
        lambda o: o.write("results/kv-offload.jsonl", json.dumps(round_row(1)) + "\n"),
        "results/1: results/kv-offload.jsonl: 1 rows, the log says that 3 were written",
    ),
    "rows that were written are gone": (
        lambda o: (o.root / "results/kv-offload.jsonl").unlink(),
        "results/1: results/kv-offload.jsonl: missing, but the log says that 3 rows were written",
    ),
    "the prefix cache was emptied less often": (
        lambda o: o.replace_once(HIGH, "Successfully reset prefix cache", "Nothing"),
        "offload-log/1: the engine emptied its prefix cache 2 times, in 3 rounds",
    ),
    "the prefix cache was not emptied": (
        lambda o: o.replace(
            HIGH, "Successfully reset prefix cache", "Failed to reset prefix cache because some blocks"
        ),
        "offload-log/1: the engine emptied its prefix cache 0 times, in 3 rounds",
    ),
    "a line about the prefix cache in another form": (
        lambda o: o.replace(HIGH, "Successfully reset prefix cache", "Later reset prefix cache"),
        f"offload-log/1: {HIGH}:5: expected 'Successfully reset prefix cache' or",
    ),
    "the engine counted nothing from outside": (
        lambda o: o.replace(HIGH, "external_kv_transfer 512", "external_kv_transfer 256"),
        "round 2: the engine counted 0 tokens from outside, 0 of its own, the row says 256 and 0",
    ),
    "the engine found tokens in its own cache": (
        lambda o: o.replace(HIGH, "run 3: local_cache_hit 0", "run 3: local_cache_hit 256"),
        "round 3: the engine counted 256 tokens from outside, 256 of its own, the row says 256 and 0",
    ),
    "the engine counted in fewer rounds": (
        lambda o: o.replace(HIGH, "engine-metrics: after run 3", "engine: after run 3"),
        "offload-log/1: expected a line `engine-metrics: ...` for each round in order, found 1, 2",
    ),
    "two sizes of the KV cache": (
        lambda o: o.replace(HIGH, "8,192 tokens\n", "8,192 tokens\nGPU KV cache size: 8,193 tokens\n"),
        "offload-log/1: lines say different sizes of the KV cache: 8192 tokens, 8193 tokens",
    ),
    "a line of LMCache": (
        lambda o: o.replace(HIGH, "row: ", "LMCache INFO: Stored 256 out of total 300 tokens.\nrow: "),
        "offload-log/1: Stored 256 tokens: a line of LMCache, the backend is native",
    ),
    "a prompt twice": (round_2(prompt_sha256=f"{1:064x}"), "the prompts are not all different"),
    "not cold": (round_2(cold_cached_tokens=128), "round 2: cold_cached_tokens is 128, expected 0"),
    "cached 255": (
        round_2(external_cached_tokens=255),
        "round 2: external_cached_tokens is 255, expected 256",
    ),
    "reset refused": (round_2(reset_prefix_cache=False), "round 2: reset_prefix_cache is False"),
    "another prompt length": (
        rounds(*(round_row(run, prompt_tokens=200, external_cached_tokens=128) for run in (1, 2, 3))),
        "round 1: prompt_tokens is 200, the stage's setting is 300",
    ),
    "fewer tokens": (
        lambda o: o.change_stage("native-high-level", settings=SETTINGS | {"max_tokens": 17}),
        "round 1: 16 token ids, the stage's setting max_tokens is 17",
    ),
    "one token differs": (round_2(external_token_ids=[2, 7, 7, 6] * 4), "round 2: tokens differ"),
    "no tokens": (round_2(cold_token_ids=[], external_token_ids=[]), "round 2: no tokens"),
    "no time": (round_2(external_seconds=0), "round 2: external_seconds is 0.0, expected more than 0"),
    "negative time": (round_2(cold_seconds=-1.5), "round 2: cold_seconds is -1.5"),
    "infinite time": (
        lambda o: o.replace("results/kv-offload.jsonl", "0.7", "Infinity"),
        "kv-offload.jsonl:1: expected one JSON object, Infinity is no JSON number",
    ),
    "a number as text": (round_2(external_cached_tokens="256"), "not a round: external_cached_tokens: "),
    "true for 1": (round_2(reset_prefix_cache=1), "not a round: reset_prefix_cache: "),
    "no results": (
        lambda o: (o.root / "results/kv-offload.jsonl").unlink(),
        "kv-offload.jsonl: can't be read (No such file or directory)",
    ),
    "tokens are not the CPU's": (
        compared(npu_token_ids=[5, 6], cpu_token_ids=[5, 7]),
        "cpu-tokens/2: prompt of 7 tokens: NPU [5, 6], CPU [5, 7] results/tokens-equal-cpu.jsonl:2",
    ),
    "no tokens compared": (
        compared(npu_token_ids=[], cpu_token_ids=[]),
        "cpu-tokens/2: prompt of 7 tokens: NPU [], CPU []",
    ),
    "fewer tokens compared": (
        compared(npu_token_ids=[5], cpu_token_ids=[5]),
        "cpu-tokens/2: prompt of 7 tokens: 1 token ids, the stage's setting max_tokens is 16",
    ),
    "a negative token compared": (
        compared(npu_token_ids=[-1] * 16, cpu_token_ids=[-1] * 16),
        "cpu-tokens/2: not a comparison: npu_token_ids.0: ",
    ),
    "compared elsewhere": (
        compared(device_kind="hardware"),
        "cpu-tokens/2: prompt of 7 tokens: device_kind is 'hardware', the run's is emulated",
    ),
    "one prompt compared": (
        comparisons(comparison(7)),
        "cpu-tokens/2: expected prompts of [1, 7, 300] tokens, found [7]",
    ),
    "not a comparison": (
        comparisons({}),
        "cpu-tokens/2: not a comparison: device_kind: Field required",
    ),
    "a stage failed": (
        lambda o: o.change_stage("unit", status=StageStatus.FAIL, reason="exit code 1", exit_code=1),
        "stages/1: unit: fail, exit code 1",
    ),
    "passed with an exit code": (
        lambda o: o.change_stage("unit", exit_code=1),
        "stages/1: unit: pass, but its exit code is 1",
    ),
    "passed without a log": (
        lambda o: (o.root / "stages/health.log").unlink(),
        "stages/1: health: pass, but it left no log",
    ),
    "not run with a log": (
        lambda o: o.change_stage("unit", status=StageStatus.NOT_RUN, exit_code=None),
        "stages/1: unit: not run, but it left a log",
    ),
    "skipped": (
        lambda o: o.remove_stage("native-transfer", StageStatus.SKIPPED, "needs health: fail"),
        "stages/1: native-transfer: skipped, needs health: fail",
    ),
}


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_fails(offload, change, message):
    assert offload.verdict().result is Result.PASS
    change(offload)
    verdict = offload.verdict()
    assert message in "\n".join(messages(verdict, Result.FAIL))
    assert (verdict.result, verdict.exit_code) == (Result.FAIL, 1)


UNSURE = {
    "a prompt without a hash": (
        round_2(prompt_sha256=None),
        "offload-rounds/2: round 2: no prompt_sha256 says which prompt it was",
    ),
    "the same tokens for other prompts": (
        round_2(cold_token_ids=[1, 7, 7, 5] * 4, external_token_ids=[1, 7, 7, 5] * 4, external_seconds=0.4),
        "offload-rounds/2: two rounds have the same tokens, though other prompts",
    ),
    "the engine said nothing of its prefix cache": (
        lambda o: o.replace(HIGH, "Successfully reset prefix cache", "-"),
        "offload-log/1: no line of the engine about emptying its prefix cache",
    ),
    "the engine did not count": (
        lambda o: o.replace(HIGH, "external_kv_transfer 256", "external_kv_transfer not counted"),
        "that counts what came back in every round",
    ),
    "no size of the KV cache": (
        lambda o: o.replace(HIGH, "GPU KV cache size", "The size"),
        "offload-log/1: no line says how large the KV cache is",
    ),
    "cold not measured": (
        round_2(cold_cached_tokens=None),
        "cold_cached_tokens is null, so it was not measured",
    ),
    "external not measured": (round_2(external_cached_tokens=None), "external_cached_tokens is null"),
    "reset not measured": (round_2(reset_prefix_cache=None), "reset_prefix_cache is null"),
    "fewer rounds asked for": (
        lambda o: (
            o.write_rounds(round_row(1), round_row(2)),
            o.change_stage("native-high-level", settings=SETTINGS | {"rounds": 2}),
            o.write_tests("native-high-level"),
        ),
        "protocol/1: native-high-level.rounds is 2, published 3",
    ),
    "a short prompt": (
        lambda o: (
            o.write_rounds(*(round_row(i, prompt_tokens=100, external_cached_tokens=0) for i in (1, 2, 3))),
            o.write_comparisons(*map(comparison, (1, 7, 100))),
            o.change_stage("native-high-level", settings=SETTINGS | {"prompt_tokens": 100}),
        ),
        "round 1: a prompt of 100 tokens fills no block",
    ),
    "a stage for more dies": (
        lambda o: o.need_two_dies(),
        "stages/1: native-high-level: not applicable, needs 2 dies, this run has 1",
    ),
    "no list of the NPUs": (
        lambda o: (o.root / "device/npu-smi-info-l.txt").unlink(),
        "health/5: health: 1 die, but npu-smi info -l is missing",
    ),
    "a die's health not asked for": (
        lambda o: (o.root / "device/npu-smi-health-0-0.txt").unlink(),
        "health/5: health: 1 die, but npu-smi info -t health is missing for NPU 0 chip 0",
    ),
    "a die's health not asked for after the run": (
        lambda o: (o.root / "device/after/npu-smi-health-0-0.txt").unlink(),
        "health/5: health-after: 1 die, but npu-smi info -t health is missing for NPU 0 chip 0",
    ),
    "the health check skipped": (
        lambda o: o.replace(
            "stages/health.log",
            "npu-health: looked",
            "npu-health: skipped, as SKIP_NPU_HEALTH_CHECK=1 says\nnpu-health: looked",
        ),
        "health/5: health: SKIP_NPU_HEALTH_CHECK=1 left out the health query, so no health was measured",
    ),
    "the health of another die": (
        lambda o: o.replace(
            "stages/health.log",
            "npu-health: looked at NPU 0",
            "npu-health: override NPU_INDEX=5\nnpu-health: looked at NPU 5",
        ),
        "the run could use NPU 0 chip 0, which NPU_INDEX=5 did not look at",
    ),
    "no process table": (
        lambda o: o.write(
            "device/npu-smi-info.txt",
            (o.root / "device/npu-smi-info.txt")
            .read_text()
            .partition(
                "+\n+---------------------------+-----"
                "----------+----------------------------------------------------+\n| NPU     Chip"
            )[0]
            + "+\n",
        ),
        "npu-smi info does not say what runs on NPU 0 chip 0",
    ),
    "tokens not compared": (
        lambda o: o.remove_comparisons(),
        "cpu-tokens/2: no results/tokens-equal-cpu.jsonl: the tiny model's tokens were not compared",
    ),
    "a stage not asked for": (
        lambda o: o.remove_stage("unit", StageStatus.NOT_RUN, "not asked for"),
        "stages/1: unit: not run, not asked for",
    ),
    "a stage inconclusive": (
        lambda o: o.change_stage("health", status=StageStatus.INCONCLUSIVE, exit_code=3),
        "stages/1: health: inconclusive",
    ),
    "a stage interrupted": (
        lambda o: (
            o.change_stage("unit", status=StageStatus.INTERRUPTED, exit_code=-15),
            o.change_manifest(interrupted=True),
            o.write("stages/unit.log", "collected"),
        ),
        "stages/1: unit: interrupted",
    ),
    "interrupted": (lambda o: o.change_manifest(interrupted=True), "stages/1: the run was interrupted"),
}


@pytest.mark.parametrize(("change", "message"), UNSURE.values(), ids=UNSURE)
def test_what_was_not_measured_or_not_asked_for_is_inconclusive_and_never_a_pass(offload, change, message):
    assert offload.verdict().result is Result.PASS
    change(offload)
    verdict = offload.verdict()
    assert messages(verdict, Result.FAIL) == []
    assert message in "\n".join(messages(verdict, Result.INCONCLUSIVE))
    assert (verdict.result, verdict.exit_code) == (Result.INCONCLUSIVE, 3)


def test_a_stage_for_more_dies_is_neither_pass_nor_fail_in_limited_mode(offload):
    reason = "needs 2 dies, this run has 1"
    assert offload.verdict(Mode.LIMITED).result is Result.PASS
    stage = offload.need_two_dies()
    verdict = offload.verdict(Mode.LIMITED)
    assert verdict.result is Result.PASS
    assert f"stages/1: {stage}: not applicable, {reason} manifest.json:" in "\n".join(
        messages(verdict, Result.NOT_APPLICABLE)
    )


def test_the_tiny_models_tokens_are_compared_with_the_cpus_and_no_others(offload):
    verdict = offload.verdict()
    assert "cpu-tokens/2: prompt of 7 tokens: 16 token ids as on the CPU" in "\n".join(
        messages(verdict, Result.PASS)
    )
    assert verdict.result is Result.PASS
    offload.remove_comparisons()
    other = ModelRecord(path="/models/other", architectures=("Q",), model_type="q", files={})
    offload.change_manifest(model=other)
    offload.write_tests("native-high-level", with_cpu=False)
    verdict = offload.verdict()
    nothing = messages(verdict, Result.NOT_APPLICABLE)
    assert [message.partition(":")[0] for message in nothing] == ["image/1", "cpu-tokens/2"]
    assert verdict.result is Result.PASS


def test_limited_mode_takes_other_settings_as_another_result(offload):
    offload.write_rounds(round_row(1), round_row(2))
    offload.change_stage("native-high-level", settings=SETTINGS | {"rounds": 2})
    offload.write_tests("native-high-level")
    assert offload.verdict(Mode.LIMITED).result is Result.PASS


@pytest.mark.parametrize(
    ("prompt", "reusable"), [(300, 256), (257, 256), (256, 255), (255, 128), (128, 127), (127, 0), (1, 0)]
)
def test_whole_blocks_come_back_but_the_last_token_is_computed(prompt, reusable):
    assert reusable_tokens(prompt) == reusable


def test_a_log_of_millions_of_lines_is_judged_in_little_memory(offload):
    def peak() -> int:
        offload.seal()
        tracemalloc.start()
        assert verify(offload.root, Mode.EMULATED).result is expected
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    expected = Result.PASS
    before = peak()
    for stage in ("versions-and-paths", "unit", "native-transfer"):
        path = offload.archive.stage_log(stage)
        path.write_bytes(b"y\n" * 20_000 + path.read_bytes())
    assert peak() < before + 1_000_000


def test_a_copy_of_the_drivers_library_in_the_systems_folder_is_inconclusive(offload):
    assert offload.verdict().result is Result.PASS
    offload.replace(VERSIONS, "process-map: ", "process-map: /usr/lib64/libascend_hal.so\nprocess-map: ")
    verdict = offload.verdict()
    assert messages(verdict, Result.FAIL) == []
    (found,) = messages(verdict, Result.INCONCLUSIVE)
    assert "cann/2: /usr/lib64/libascend_hal.so was loaded: a copy of the system" in found


def test_a_driver_that_nobody_has_listed_is_inconclusive(offload):
    assert offload.verdict().result is Result.PASS
    offload.replace("cann/driver/version.info", "Version=25.5.1", "Version=27.0.0")
    verdict = offload.verdict()
    assert messages(verdict, Result.FAIL) == []
    listed, npu_smi = messages(verdict, Result.INCONCLUSIVE)
    assert "cann/2: driver 27.0.0+emulated is not listed for CANN 9.0.0" in listed
    assert (
        "health/5: health: npu-smi is of driver 25.5.1+emulated, the kept file of 27.0.0+emulated" in npu_smi
    )
