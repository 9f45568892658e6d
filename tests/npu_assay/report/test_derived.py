"""Derived files are written, held against what is derived again, and never taken on trust."""

import os

import pytest
from click.testing import CliRunner
from offload_archive import messages, to_hardware

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Finding, Result
from npu_assay.claims.verdict import own_mode, verify
from npu_assay.commands.archive import archive as archive_command
from npu_assay.commands.verify import verify as verify_command
from npu_assay.report.derived import check_derived, judge
from npu_assay.report.deriver import Deriver, this_deriver

STATEMENT = "statement.intoto.json"


def findings(offload) -> list[Finding]:
    return check_derived(offload.archive, verify(offload.root, own_mode(offload.root)))


def only(offload) -> tuple[Result, str]:
    """What is found of the statement."""
    finding, *of_reports = findings(offload)
    assert (finding.rule, [str(place) for place in finding.evidence]) == ("derived/1", [STATEMENT])
    assert [str(*found.evidence) for found in of_reports] == ["report.md", "report.html"]
    return finding.result, finding.message


def test_what_was_derived_is_derived_again_byte_for_byte(offload):
    assert only(offload) == (Result.PASS, f"{STATEMENT}: derived again, byte for byte")
    verdict = judge(offload.root, Mode.EMULATED)
    assert (verdict.result, verdict.findings[-1].rule) == (Result.PASS, "derived/1")


def replace(old: str, new: str):
    def change(path):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def to_link(path):
    path.symlink_to(path.rename(path.parents[1] / "elsewhere"))


def to_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("damage", "result", "message"),
    [
        (lambda path: path.unlink(), Result.FAIL, "missing; write it with `npu-assay archive sums`"),
        (to_link, Result.FAIL, "not a regular file"),
        (to_pipe, Result.FAIL, "not a regular file"),
        (lambda path: path.write_bytes(b""), Result.FAIL, "Invalid JSON"),
        (lambda path: path.write_bytes(path.read_bytes() + b"\n"), Result.FAIL, "not the bytes that are"),
        (replace("WARNED", "PASSED"), Result.FAIL, "not the bytes that are derived"),
        (replace("emulated/", ""), Result.FAIL, "not the bytes that are derived"),
        (replace('"mode"', '"mood"'), Result.FAIL, "annotations.run.mode: Field required"),
        (lambda path: os.truncate(path, 65 << 20), Result.FAIL, "more than 67108864 bytes"),
    ],
)
def test_another_byte_is_a_failed_finding(offload, damage, result, message):
    assert only(offload)[0] is Result.PASS
    damage(offload.root / STATEMENT)
    found = only(offload)
    assert found[0] is result
    assert message in found[1]
    assert judge(offload.root, Mode.EMULATED).result is Result.FAIL


def test_what_another_npu_assay_derived_is_inconclusive_where_it_differs(offload):
    path = offload.root / STATEMENT
    assert only(offload)[0] is Result.PASS
    replace(this_deriver().sha256, "0" * 64)(path)
    other = Deriver(this_deriver().version, "0" * 64)
    assert only(offload) == (
        Result.PASS,
        f"{STATEMENT}: derived again, byte for byte but for the name of {other}",
    )
    replace("rule/integrity/1", "rule/integrity/0")(path)
    result, message = only(offload)
    assert result is Result.INCONCLUSIVE
    assert f"derived by {other}, and {this_deriver()} derives other bytes" in message
    assert judge(offload.root, Mode.EMULATED).result is Result.INCONCLUSIVE


def test_an_archive_that_changed_after_it_was_sealed_and_derived_fails_both(offload):
    assert judge(offload.root, Mode.EMULATED).result is Result.PASS
    offload.write("stages/ruff.log", "All checks passed, really\n")
    failed = "\n".join(messages(judge(offload.root, Mode.EMULATED), Result.FAIL))
    assert "integrity/1: stages/ruff.log: changed" in failed
    assert f"derived/1: {STATEMENT}: not the bytes that are derived" in failed


def test_every_mode_holds_the_derived_files_against_the_archives_own_mode(offload):
    for mode in Mode.EMULATED, Mode.LIMITED:
        assert judge(offload.root, mode, offload.checkout).result is Result.PASS
    refused = judge(offload.root, Mode.FORMAL)
    assert [finding.rule for finding in refused.findings] == ["verdict/1"]
    to_hardware(offload)
    offload.derive()
    for mode in Mode.FORMAL, Mode.LIMITED:
        assert judge(offload.root, mode, offload.checkout).result is Result.PASS
    (offload.root / STATEMENT).unlink()
    for mode in Mode.FORMAL, Mode.LIMITED:
        assert judge(offload.root, mode, offload.checkout).result is Result.FAIL


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_a_report_may_be_missing_but_not_be_wrong(offload, name):
    path, whole = offload.root / name, [Result.PASS] * 3
    assert [finding.result for finding in findings(offload)] == whole
    path.write_bytes(path.read_bytes() + b"\n")
    (wrong,) = (finding for finding in findings(offload) if finding.result is not Result.PASS)
    assert (wrong.result, wrong.message) == (
        Result.FAIL,
        f"{name}: not the bytes that are derived from the sealed files",
    )
    path.write_text("# A report\n")
    (unnamed,) = (finding for finding in findings(offload) if finding.result is not Result.PASS)
    assert unnamed.message == f"{name}: it does not say which npu-assay derived it"
    path.unlink()
    assert [finding.result for finding in findings(offload)] == whole[1:]


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_a_report_of_another_npu_assay_is_inconclusive_where_it_differs(offload, name):
    path = offload.root / name
    replace(this_deriver().sha256, "0" * 64)(path)
    (finding,) = (one for one in findings(offload) if str(*one.evidence) == name)
    assert (finding.result, "but for the name of" in finding.message) == (Result.PASS, True)
    replace("EMULATED", "Emulated")(path)
    (finding,) = (one for one in findings(offload) if str(*one.evidence) == name)
    assert (finding.result, "derives other bytes" in finding.message) == (Result.INCONCLUSIVE, True)


def test_archive_sums_derives_anew_and_verify_sees_it(offload):
    def verified() -> int:
        return CliRunner().invoke(verify_command, [str(offload.root), "--mode", "emulated"]).exit_code

    assert verified() == 0
    (offload.root / STATEMENT).write_text("{}")
    assert verified() == 1
    done = CliRunner().invoke(archive_command, ["sums", str(offload.root)])
    assert done.exit_code == 0
    assert "derived anew what says: verdict: EMULATED pass" in done.output
    assert verified() == 0


def test_messages_name_files_of_the_archive_wherever_it_lies(offload):
    offload.write("results/kv-offload.jsonl", "{")
    offload.derive()
    broken = judge(offload.root, Mode.EMULATED)
    assert any(
        message.startswith("results/kv-offload.jsonl:1: expected one JSON") for message in said(broken)
    )
    moved = offload.root.rename(offload.root.with_name("moved"))
    assert said(judge(moved, Mode.EMULATED)) == said(broken)
    (moved / "SHA256SUMS").unlink()
    assert "SHA256SUMS: missing; write it with `npu-assay archive sums ARCHIVE`" in said(
        judge(moved, Mode.EMULATED)
    )


def said(verdict) -> list[str]:
    return [finding.message for finding in verdict.findings]
