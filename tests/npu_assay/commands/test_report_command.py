"""`npu-assay report`: what it writes, what it leaves alone, what it says."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from offload_archive import OffloadArchive

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.cli import cli
from npu_assay.errors import UsageError
from npu_assay.report.derived import judge

REPORTS = ("report.md", "report.html")


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    offload = OffloadArchive(tmp_path / "run")
    offload.derive()
    return offload


def report(root: Path):
    return CliRunner().invoke(cli, ["report", str(root)])


def test_both_are_written_and_verify_finds_them_good(offload):
    for name in REPORTS:
        (offload.root / name).unlink()
    before = {path: path.read_bytes() for path in offload.root.rglob("*") if path.is_file()}
    done = report(offload.root)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0].startswith("verdict: EMULATED pass (")
    assert done.output.splitlines()[1:] == [f"wrote {offload.root / name}" for name in REPORTS]
    assert all(path.read_bytes() == data for path, data in before.items())
    assert judge(offload.root, Mode.EMULATED).result is Result.PASS


def test_one_that_is_there_is_replaced_whatever_the_verdict(offload):
    offload.write("stages/ruff.log", "Found 1 error.\n")
    offload.seal()
    (offload.root / "report.html").write_text("old")
    done = report(offload.root)
    assert (done.exit_code, done.output.split(" (")[0]) == (0, "verdict: EMULATED fail")
    assert "EMULATED FAIL" in (offload.root / "report.html").read_text()


def test_what_is_no_archive_is_told_in_one_line(tmp_path):
    done = report(tmp_path)
    assert isinstance(done.exception, UsageError)
    assert "no manifest.json, so no run archive" in str(done.exception)
