import json
import os
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from offload_archive import IDENTITY, device_of, messages, round_row, to_hardware

from npu_assay.claims import verdict as verdict_module
from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.presentation import as_json, as_junit, as_text
from npu_assay.claims.rule import Rule, apply_rules
from npu_assay.claims.verdict import verify
from npu_assay.commands.archive import archive as archive_command
from npu_assay.commands.verify import verify as verify_command
from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import PipelineRecord, StageStatus


def test_a_good_emulated_archive_passes_in_emulated_mode_and_says_what_it_is(offload):
    verdict = offload.verdict()
    assert messages(verdict, Result.FAIL) == messages(verdict, Result.INCONCLUSIVE) == []
    assert (verdict.result, verdict.exit_code) == (Result.PASS, 0)
    assert verdict.line.startswith("verdict: EMULATED pass (")
    assert verdict.line.endswith("no evidence about an NPU")


def test_formal_is_the_default_and_refuses_an_emulated_archive_in_one_line(offload):
    offload.derive()
    refused = CliRunner().invoke(verify_command, [str(offload.root)])
    assert refused.exit_code == 1
    finding, line = refused.output.splitlines()
    assert "the run was emulated (stages/versions-and-paths.log:10 says 'cann-identity: EMULATED" in finding
    assert line.startswith("verdict: EMULATED fail")
    assert CliRunner().invoke(verify_command, [str(offload.root), "--mode", "emulated"]).exit_code == 0


def test_formal_mode_passes_the_same_archive_from_hardware(offload):
    to_hardware(offload)
    verdict = offload.verdict(Mode.FORMAL)
    assert messages(verdict, Result.FAIL) == []
    assert verdict.result is Result.PASS
    assert "EMULATED" not in verdict.line
    refused = offload.verdict(Mode.EMULATED)
    assert "the run was not emulated" in messages(refused, Result.FAIL)[0]


def test_formal_mode_takes_no_run_whose_health_check_was_skipped(offload):
    to_hardware(offload)
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    offload.replace(
        "stages/health.log",
        "npu-health: looked",
        "npu-health: skipped, as SKIP_NPU_HEALTH_CHECK=1 says\nnpu-health: looked",
    )
    assert offload.verdict(Mode.FORMAL).result is Result.INCONCLUSIVE
    limited = offload.verdict(Mode.LIMITED)
    assert limited.result is Result.PASS
    assert "SKIP_NPU_HEALTH_CHECK=1 left out the health query" in "\n".join(
        messages(limited, Result.NOT_APPLICABLE)
    )


def test_formal_mode_refuses_what_nobody_knows_by_its_hash(offload):
    to_hardware(offload)
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    offload.use_lock(lambda text: text.replace(f'"{"a" * 64}"', '"unverified"'))
    verdict = offload.verdict(Mode.FORMAL)
    assert [message.partition(";")[0] for message in messages(verdict, Result.FAIL)] == [
        f"artefacts/1: {name}: the lock cann900-vllm018 had no sha256 for it"
        for name in ("cann", "cann-ops", "nnal")
    ]
    assert "npu-assay env lock cann900-vllm018 --record FILE" in messages(verdict, Result.FAIL)[0]
    limited = offload.verdict(Mode.LIMITED)
    assert messages(limited, Result.FAIL) == []
    assert sum("only formal mode asks for it" in m for m in messages(limited, Result.NOT_APPLICABLE)) == 3


HARDWARE = "hardware V100R001C10SPC001B250"
LOG, SMI = "stages/versions-and-paths.log", "device/npu-smi-info.txt"
SMI_AFTER = "device/after/npu-smi-info.txt"
TOOLKIT = "cann/toolkit/ascend_toolkit_install.info"


@pytest.mark.parametrize(
    ("sign", "evidence"),
    [
        (lambda o: o.change_manifest(device=device_of("emulated")), "manifest.json says"),
        (lambda o: o.replace(LOG, HARDWARE, IDENTITY), f"{LOG}:10 says 'cann-identity: EMULATED"),
        (lambda o: o.replace(LOG, "cann-", f"cann-identity: {IDENTITY}\ncann-"), f"{LOG}:11 says"),
        (lambda o: o.replace("environment.json", HARDWARE, IDENTITY), "environment.json says 'EMULATED"),
        (lambda o: o.replace(TOOLKIT, "V100R001C10SPC001B250", "EMULATED"), f"{TOOLKIT} says EMULATED"),
        (lambda o: o.replace(SMI, "25.5.1", "25.5.1+emulated"), f"{SMI}:2 says '| npu-smi 25.5.1+emulated"),
        (lambda o: o.replace(SMI_AFTER, "25.5.1", "emulated"), f"{SMI_AFTER}:2 says '| npu-smi emulated"),
    ],
    ids=["manifest", "log", "log twice", "environment.json", "cann", "npu-smi", "npu-smi after"],
)
def test_one_sign_of_emulation_is_enough_for_formal_mode_to_refuse(offload, sign, evidence):
    to_hardware(offload)
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    sign(offload)
    verdict = offload.verdict(Mode.FORMAL)
    assert f"the run was emulated ({evidence}" in messages(verdict, Result.FAIL)[0]
    assert verdict.line.startswith("verdict: EMULATED fail")
    assert verdict.exit_code == 1
    # Nor does it pass for an emulated run, when the rest of it says that it was none.
    assert offload.verdict(Mode.EMULATED).exit_code == 1


@pytest.mark.parametrize("name", ["manifest.json", "stages/unit.log", "device/npu-smi-info.txt", "more"])
def test_what_is_no_regular_file_is_named_and_never_opened(offload, name):
    """A pipe would be waited for, and a link leads out of the archive."""
    assert offload.verdict().result is Result.PASS
    (offload.root / name).unlink(missing_ok=True)
    os.mkfifo(offload.root / name)
    verdict = verify(offload.root, Mode.EMULATED)
    assert f"{name}: not a regular file" in " ".join(messages(verdict, Result.FAIL))
    assert verdict.exit_code == 1


def test_a_finding_is_one_printable_line_whatever_a_file_is_called(offload):
    assert offload.verdict().result is Result.PASS
    (offload.root / os.fsdecode(b"results/a\nb\x1b[2J\xff")).write_text("")
    verdict = verify(offload.root, Mode.EMULATED)
    assert "results/a\\nb\\x1b[2J\\udcff: not in SHA256SUMS" in as_text(verdict).splitlines()[0]
    assert len(as_text(verdict).splitlines()) == len(verdict.findings) + 1
    assert all(line.isprintable() for line in as_text(verdict).splitlines())
    ElementTree.fromstring(as_junit(verdict))
    assert json.loads(as_json(verdict))["verdict"] == "fail"


def test_a_stage_that_stands_twice_in_the_manifest_fails(offload):
    assert offload.verdict().result is Result.PASS
    red = offload.manifest.stages[0].model_copy(update={"status": StageStatus.FAIL, "exit_code": 1})
    offload.change_manifest(stages=(*offload.manifest.stages, red))
    verdict = offload.verdict()
    assert "stages: Value error, cann stands twice" in messages(verdict, Result.FAIL)[0]
    assert verdict.exit_code == 1


@pytest.mark.parametrize("mode", [Mode.EMULATED, Mode.LIMITED])
def test_any_one_changed_byte_fails_and_names_its_file(offload, mode):
    assert offload.verdict(mode).result is Result.PASS
    for path in sorted(path for path in offload.root.rglob("*") if path.is_file()):
        name, good = path.relative_to(offload.root).as_posix(), path.read_bytes()
        # Positions over the whole file, and two ways to change a byte: a letter's case, and any other bit.
        for position in range(0, len(good), max(1, len(good) // 6)):
            for flip in (0x20, 0x01):
                path.write_bytes(good[:position] + bytes([good[position] ^ flip]) + good[position + 1 :])
                verdict = verify(offload.root, mode)
                assert verdict.exit_code == 1
                assert name in " ".join(messages(verdict, Result.FAIL)) or name == "SHA256SUMS"
        path.write_bytes(good)
    assert verify(offload.root, mode).result is Result.PASS


def test_missing_and_extra_files_fail_by_name(offload):
    assert offload.verdict().result is Result.PASS
    (offload.root / "results/extra.jsonl").write_text("")
    assert "results/extra.jsonl: not in SHA256SUMS" in " ".join(
        messages(verify(offload.root, Mode.EMULATED), Result.FAIL)
    )
    (offload.root / "results/extra.jsonl").unlink()
    (offload.root / "device/npu-smi-info.txt").unlink()
    assert "device/npu-smi-info.txt: in SHA256SUMS, but missing" in " ".join(
        messages(verify(offload.root, Mode.EMULATED), Result.FAIL)
    )


@pytest.mark.parametrize("name", ["manifest.json", "SHA256SUMS"])
def test_an_archive_without_manifest_or_checksums_fails(offload, name):
    assert offload.verdict().result is Result.PASS
    (offload.root / name).unlink()
    verdict = verify(offload.root, Mode.EMULATED)
    assert verdict.exit_code == 1
    assert name in " ".join(messages(verdict, Result.FAIL))


def test_no_archive_is_bad_usage(offload, tmp_path):
    offload.seal()
    assert verify(offload.root, Mode.EMULATED).exit_code == 0
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=r"no manifest\.json and no SHA256SUMS"):
            verify(root, Mode.EMULATED)


def test_limited_mode_allows_missing_stages_and_says_so(offload):
    assert offload.verdict(Mode.LIMITED).result is Result.PASS
    offload.remove_stage("unit", StageStatus.NOT_RUN, "not asked for")
    limited = offload.verdict(Mode.LIMITED)
    assert limited.result is Result.PASS
    assert limited.line.startswith("verdict: EMULATED LIMITED pass")
    assert "stages/1: unit: not run, not asked for manifest.json" in messages(limited, Result.NOT_APPLICABLE)
    emulated = offload.verdict(Mode.EMULATED)
    assert (emulated.result, emulated.exit_code) == (Result.INCONCLUSIVE, 3)


def test_a_pipeline_that_nothing_was_published_about_is_inconclusive(offload):
    assert offload.verdict().result is Result.PASS
    offload.forged = True
    offload.change_manifest(pipeline=PipelineRecord(name="mine", sha256="0" * 64))
    verdict = offload.verdict()
    assert verdict.exit_code == 3
    assert "no published result is known for pipeline mine" in messages(verdict, Result.INCONCLUSIVE)[0]


class SilentRule(Rule):
    name, version = "silent", 1

    def check(self, case):
        yield from ()


class BrokenRule(Rule):
    name, version = "broken", 7

    def check(self, case):
        yield self.passed("so far")
        raise ZeroDivisionError("oops")


def test_a_rule_that_breaks_or_finds_nothing_is_a_failed_finding(offload):
    offload.seal()
    case = Case(offload.archive, Mode.EMULATED)
    silent, so_far, broken = apply_rules([SilentRule(), BrokenRule()], case)
    assert (silent.rule, silent.result) == ("silent/1", Result.FAIL)
    assert (so_far.rule, so_far.result) == ("broken/7", Result.PASS)
    assert broken.result is Result.FAIL
    assert broken.message == "the rule broke: ZeroDivisionError: oops"
    assert 'raise ZeroDivisionError("oops")' in broken.traceback


def test_a_verdict_of_nothing_but_not_applicable_is_no_pass(offload, monkeypatch):
    assert offload.verdict().result is Result.PASS

    class NothingRule(Rule):
        name, version = "nothing", 1

        def check(self, case):
            yield self.not_applicable("nothing here")

    monkeypatch.setattr(verdict_module, "IntegrityRule", NothingRule)
    monkeypatch.setattr(verdict_module, "RULES_OF_PIPELINE", {"kv-offload": [NothingRule()]})
    assert offload.verdict().result is Result.INCONCLUSIVE


def test_the_three_formats_say_the_same(offload):
    offload.write_rounds(
        round_row(1), round_row(2, cold_cached_tokens=None), round_row(3, run=9, reset_prefix_cache=False)
    )
    verdict = offload.verdict()
    text, document = as_text(verdict), json.loads(as_json(verdict))
    suite = ElementTree.fromstring(as_junit(verdict)).find("testsuite")
    assert text.splitlines()[-1] == document["line"] == verdict.line
    assert len(text.splitlines()) - 1 == len(document["findings"]) == len(suite) == len(verdict.findings)
    failed = [finding for finding in document["findings"] if finding["result"] == "fail"]
    assert (suite.get("failures"), suite.get("errors")) == (str(len(failed)), "1")
    assert ["results/kv-offload.jsonl:3"] in [finding["evidence"] for finding in failed]
    assert "fail           offload-rounds/2   round 9: reset_prefix_cache is False, expected True [" in text


def test_archive_check_and_sums(offload):
    def run(*arguments: str):
        return CliRunner().invoke(archive_command, [*arguments, str(offload.root)])

    offload.seal()
    assert run("check").exit_code == 0
    (offload.root / "stages/ruff.log").write_text("changed")
    failed = run("check")
    assert failed.exception.exit_code == 1
    assert failed.output.startswith("stages/ruff.log: changed")
    assert run("sums").exit_code == 0
    assert run("check").exit_code == 0
