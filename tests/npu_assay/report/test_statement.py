"""statement.intoto.json against in-toto's specification, and against what the archive says."""

import hashlib
import json

import jsonschema
import pytest
from offload_archive import CANN_FILES_OF_HARDWARE, STAGES, to_hardware

from npu_assay.claims.verdict import own_mode, verify
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


@pytest.mark.parametrize(
    ("status", "result", "tests"),
    [
        (StageStatus.PASS, "PASSED", "passedTests"),
        (StageStatus.FAIL, "FAILED", "failedTests"),
        (StageStatus.SKIPPED, "FAILED", "failedTests"),
        (StageStatus.INCONCLUSIVE, "WARNED", "warnedTests"),
        (StageStatus.NOT_APPLICABLE, "WARNED", None),
        (StageStatus.NOT_RUN, "WARNED", None),
    ],
)
def test_a_stage_stands_in_the_list_of_its_status(offload, status, result, tests):
    to_hardware(offload)
    stage, codes = "compileall", {StageStatus.FAIL: 1, StageStatus.INCONCLUSIVE: 3}
    if status is StageStatus.NOT_APPLICABLE:
        stage = offload.need_two_dies()
    elif status in (StageStatus.NOT_RUN, StageStatus.SKIPPED):
        offload.remove_stage(stage, status, "for a reason")
    else:
        offload.change_stage(stage, status=status, exit_code=codes.get(status, 0))
    predicate = derived(offload)["predicate"]
    assert predicate["result"] == result
    lists = [name for name, held in predicate.items() if f"stage/{stage}" in held]
    assert lists == ([tests] if tests else [])


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
