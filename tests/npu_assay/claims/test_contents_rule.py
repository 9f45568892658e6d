"""An archive holds what a run leaves; anything else is named."""

import pytest
from offload_archive import OffloadArchive, messages

from npu_assay.claims.findings import Result

STRAY = "contents/1: no stage of this run leaves such a file"


@pytest.mark.parametrize(
    "name",
    [
        "results/summary.json",
        "results/kv_offload.jsonl",
        "stages/lmcache.log",
        "stages/unit.log.bak",
        "stages/unit/log",
        "device/notes.md",
        "device/before/npu-smi-info.txt",
        "cann/other/version.info",
        "source/tree.tar",
        "inputs/lock.toml.orig",
        "shards/1-of-2/SHA256SUMS",
        "stages/report.md",
        "verdict.txt",
    ],
)
def test_a_file_that_no_stage_leaves_fails(offload: OffloadArchive, name: str) -> None:
    assert offload.verdict().result is Result.PASS
    offload.write(name, "verdict: pass\n")
    assert f"{STRAY} {name}" in messages(offload.verdict(), Result.FAIL)


@pytest.mark.parametrize(
    "name",
    [
        "report.md",
        "report.html",
        "plog/unit/debug/plog/plog-7_20261130.log",
        "plog/unit/left-out.txt",
        "device/after/npu-smi-usages-0.txt",
    ],
)
def test_what_a_run_may_leave_does_not(offload: OffloadArchive, name: str) -> None:
    offload.write(name, "text\n")
    assert [found for found in messages(offload.verdict(), Result.FAIL) if found.startswith("contents")] == []


def test_many_strays_are_counted(offload: OffloadArchive) -> None:
    for number in range(25):
        offload.write(f"results/{number:02}.json", "{}")
    found = [one for one in messages(offload.verdict(), Result.FAIL) if one.startswith("contents")]
    assert len(found) == 21
    assert found[-1] == "contents/1: and 5 more files that no stage leaves "
