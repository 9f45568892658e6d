"""statement.intoto.json against in-toto's specification, and against what the archive says."""

import hashlib
import json
from dataclasses import replace

import jsonschema
import pytest
from offload_archive import CANN_FILES_OF_HARDWARE, STAGES, to_hardware

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Finding, Result
from npu_assay.claims.verdict import Verdict, own_mode, verify
from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import StageStatus
from npu_assay.report.deriver import Deriver, this_deriver
from npu_assay.report.statement import deriver_of_statement, render_statement
from npu_assay.schemas import schema_file


def statement(offload) -> dict:
    return json.loads((offload.root / "statement.intoto.json").read_bytes())


def derived(offload) -> dict:
    offload.derive()
    return statement(offload)


def by_name(descriptors: list[dict]) -> dict[str, dict]:
    assert len({one["name"] for one in descriptors}) == len(descriptors)
    return {one["name"]: one for one in descriptors}


def test_the_fields_are_those_of_the_specification(offload):
    found = statement(offload)
    assert list(found) == ["_type", "predicate", "predicateType", "subject"]
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    predicate = found["predicate"]
    assert list(predicate) == ["configuration", "failedTests", "passedTests", "result", "warnedTests"]
    for descriptor in found["subject"] + predicate["configuration"]:
        assert set(descriptor) <= {"name", "uri", "digest", "annotations"}
        assert list(descriptor["digest"]) == ["sha256"]
    schema = jsonschema.Draft202012Validator(json.loads(schema_file("statement").read_text()))
    schema.validate(found)
    with pytest.raises(jsonschema.ValidationError, match="'note' was unexpected"):
        schema.validate(found | {"note": ""})


def test_subjects_and_configuration_are_files_of_the_archive(offload):
    offload.write("inputs/lock.toml", "[lock]\n")
    offload.write("inputs/pipeline.toml", "[pipeline]\n")
    found = derived(offload)
    subjects, configuration = by_name(found["subject"]), by_name(found["predicate"]["configuration"])
    assert list(subjects) == ["SHA256SUMS", "source/files.sha256"]
    assert list(configuration) == ["manifest.json", "inputs/lock.toml", "inputs/pipeline.toml", "npu-assay"]
    tool = configuration.pop("npu-assay")
    assert (tool["uri"], tool["digest"]["sha256"]) == (
        f"pkg:generic/npu-assay@{this_deriver().version}",
        this_deriver().sha256,
    )
    for name, descriptor in (subjects | configuration).items():
        digest = hashlib.sha256((offload.root / name).read_bytes()).hexdigest()
        assert descriptor["digest"]["sha256"] == digest, name


def test_a_pass_on_hardware_is_passed_and_one_on_the_emulator_says_so_in_every_field(offload):
    emulated = statement(offload)["predicate"]
    assert (emulated["result"], emulated["failedTests"]) == ("WARNED", [])
    assert all(name.startswith("emulated/") for name in emulated["passedTests"])
    said = by_name(emulated["configuration"])["manifest.json"]["annotations"]
    assert (said["deviceKind"], said["mode"]) == ("emulated", "emulated")
    assert said["verdict"] == verify(offload.root, own_mode(offload.root)).line

    to_hardware(offload)
    hardware = derived(offload)["predicate"]
    assert (hardware["result"], hardware["failedTests"], hardware["warnedTests"]) == ("PASSED", [], [])
    assert {name for name in hardware["passedTests"] if name.startswith("stage/")} == {
        f"stage/{stage}" for stage in STAGES
    }
    assert "rule/integrity/1" in hardware["passedTests"]
    said = by_name(hardware["configuration"])["manifest.json"]["annotations"]
    assert (said["deviceKind"], said["mode"]) == ("hardware", "formal")


def test_the_image_of_a_run_is_named_with_its_digest(offload):
    assert "image.json" not in by_name(statement(offload)["predicate"]["configuration"])
    offload.put_in_image()
    configuration = by_name(derived(offload)["predicate"]["configuration"])
    file, image = configuration["image.json"], configuration[offload.manifest.image.reference]
    assert file["digest"]["sha256"] == hashlib.sha256(offload.archive.image.read_bytes()).hexdigest()
    assert (image["digest"]["sha256"], image["annotations"]) == ("f" * 64, {"digestOf": "manifest"})
    schema = jsonschema.Draft202012Validator(json.loads(schema_file("statement").read_text()))
    schema.validate(statement(offload))
    offload.put_in_image(digest=None)
    unknown = by_name(derived(offload)["predicate"]["configuration"])
    assert configuration.keys() - unknown.keys() == {offload.manifest.image.reference}


@pytest.mark.parametrize(
    ("status", "tests"),
    [
        (StageStatus.PASS, "passedTests"),
        (StageStatus.FAIL, "failedTests"),
        (StageStatus.SKIPPED, "failedTests"),
        (StageStatus.INCONCLUSIVE, "warnedTests"),
        (StageStatus.INTERRUPTED, "warnedTests"),
        (StageStatus.NOT_APPLICABLE, None),
        (StageStatus.NOT_RUN, None),
    ],
)
def test_a_stage_stands_in_the_list_of_its_status(offload, status, tests):
    """Whatever the rules make of a status that does not fit the rest of the archive."""
    to_hardware(offload)
    offload.change_stage("compileall", status=status)
    predicate = derived(offload)["predicate"]
    lists = [name for name, held in predicate.items() if "stage/compileall" in held]
    assert lists == ([tests] if tests else [])
    assert (predicate["result"] == "PASSED") == (status is StageStatus.PASS)


@pytest.mark.parametrize(
    ("result", "said"),
    [(Result.PASS, "PASSED"), (Result.INCONCLUSIVE, "WARNED"), (Result.FAIL, "FAILED")],
)
def test_the_result_is_that_of_the_verdict(offload, result, said):
    finding = Finding("made-up/1", result, "of a test")
    verdict = Verdict(Mode.FORMAL, emulated=False, result=result, findings=(finding,))
    data = render_statement(offload.archive, verdict, this_deriver())
    assert json.loads(data)["predicate"]["result"] == said
    emulated = replace(verdict, mode=Mode.EMULATED, emulated=True)
    data = render_statement(offload.archive, emulated, this_deriver())
    assert json.loads(data)["predicate"]["result"] == {"PASSED": "WARNED"}.get(said, said)


def test_a_failed_rule_is_a_failed_test_though_it_also_found_what_is_good(offload):
    to_hardware(offload)
    assert "rule/cann/" in str(derived(offload)["predicate"]["passedTests"])
    role, (found, text) = "driver", CANN_FILES_OF_HARDWARE["driver"]
    offload.write_cann(CANN_FILES_OF_HARDWARE | {role: (found, text.replace("25.5.1", "1.0"))})
    predicate = derived(offload)["predicate"]
    assert predicate["result"] == "FAILED"
    assert "rule/cann/" in str(predicate["failedTests"])
    assert "rule/cann/" not in str(predicate["passedTests"])


def test_the_bytes_depend_on_the_archive_alone(offload, monkeypatch, tmp_path):
    first = (offload.root / "statement.intoto.json").read_bytes()
    assert first == first.decode("ascii").encode()
    assert first.endswith(b"}\n")
    assert b"\r" not in first
    assert str(tmp_path).encode() not in first
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    moved = offload.root.rename(tmp_path / "moved to another place")
    monkeypatch.chdir(tmp_path)
    for root in moved, moved.relative_to(tmp_path):
        verdict = verify(root, own_mode(root))
        archive = type(offload.archive)(root)
        assert render_statement(archive, verdict, this_deriver()) == first


def test_there_is_no_statement_without_checksums_or_a_record(offload):
    verdict = verify(offload.root, own_mode(offload.root))
    assert render_statement(offload.archive, verdict, this_deriver())
    for path in offload.archive.sums, offload.archive.manifest:
        elsewhere = path.rename(offload.root.parent / path.name)
        with pytest.raises(UsageError, match=r"without SHA256SUMS and manifest\.json"):
            render_statement(offload.archive, verdict, this_deriver())
        elsewhere.rename(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "{" + text, "Invalid JSON"),
        (lambda text: text.replace('"subject"', '"subjects"'), "subject: Field required"),
        (lambda text: text.replace("test-result/v0.1", "test-result/v9"), "predicateType: Input should be"),
        (lambda text: text.replace("pkg:generic/", "pkg:pypi/"), "nothing has a uri pkg:generic/npu-assay@"),
        (lambda text: "[" * 100_000, "Invalid JSON"),
    ],
)
def test_a_statement_says_who_derived_it_or_what_is_wrong_with_it(offload, change, message):
    text = (offload.root / "statement.intoto.json").read_text()
    assert deriver_of_statement(text.encode()) == this_deriver()
    other = text.replace(this_deriver().sha256, "0" * 64)
    assert deriver_of_statement(other.encode()) == Deriver(this_deriver().version, "0" * 64)
    with pytest.raises(UsageError, match=message):
        deriver_of_statement(change(text).encode())
