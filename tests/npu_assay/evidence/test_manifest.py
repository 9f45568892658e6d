"""manifest.json is read as it stands: nothing is guessed, and its schema says the same."""

import json
from datetime import UTC, datetime

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from offload_archive import OffloadArchive
from pydantic import ValidationError

from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import Manifest, StageRecord, StageStatus, read_manifest
from npu_assay.evidence.strict_json import parse_strictly
from npu_assay.printable import printable
from npu_assay.schemas import schema_file

#: What is put into a manifest, beside any bytes.
PIECES = (
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"1e999",
    b"NaN",
    b'"x": 1,',
    b"\\u0000",
    b"-",
    b"\x00",
)


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    offload = OffloadArchive(tmp_path / "run")
    offload.change_stage("ruff", seconds=2.5)
    offload.seal()
    return offload


def edit(offload, change) -> None:
    document = json.loads(offload.archive.manifest.read_text())
    change(document)
    offload.archive.manifest.write_text(json.dumps(document, indent=2))


def ruff(document) -> dict:
    return next(stage for stage in document["stages"] if stage["name"] == "ruff")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: ruff(d).update(exit_code="0"), "stages.4.exit_code: Input should be a valid integer"),
        (lambda d: ruff(d).update(exit_code=0.0), "stages.4.exit_code: Input should be a valid integer"),
        (lambda d: ruff(d).update(exit_code=False), "stages.4.exit_code: Input should be a valid integer"),
        (lambda d: ruff(d).update(seconds="2.5"), "stages.4.seconds: Input should be a valid number"),
        (
            lambda d: ruff(d).update(seconds=-1),
            "stages.4.seconds: Input should be greater than or equal to 0",
        ),
        (lambda d: ruff(d).update(seconds=float("nan")), "NaN is no JSON number"),
        (lambda d: ruff(d).update(seconds=float("inf")), "Infinity is no JSON number"),
        (lambda d: ruff(d).update(seconds=610), "stage ruff was not run between started and finished"),
        (lambda d: ruff(d).update(started="2020-01-01T00:00:00Z"), "stage ruff was not run between"),
        (lambda d: ruff(d).update(started="2020-01-01T00:00:00"), "stages.4.started: .*timezone"),
        (lambda d: ruff(d).update(started=0), "stages.4.started: "),
        (lambda d: ruff(d).update(note=1), "stages.4.note: Extra inputs are not permitted"),
        (lambda d: d["stages"].append(ruff(d)), "ruff stands twice"),
        (lambda d: d.update(finished="2020-01-01T00:00:00Z"), "finished is before started"),
        (lambda d: d.update(interrupted=0), "interrupted: Input should be a valid boolean"),
        (lambda d: d.update(schema_version=2), "schema_version: Input should be 1"),
        (lambda d: d["host"].update(id="me"), "host.id: String should match pattern"),
        (lambda d: d["pipeline"].update(sha256="?"), "pipeline.sha256: String should match pattern"),
        (lambda d: d.pop("stages"), "stages: Field required"),
    ],
)
def test_what_is_read_is_what_stands_there(offload, change, message):
    assert read_manifest(offload.archive.manifest).stage("ruff").seconds == 2.5
    edit(offload, change)
    with pytest.raises(UsageError, match=message):
        read_manifest(offload.archive.manifest)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '  "interrupted": false',
            '  "interrupted": true,\n  "interrupted": false',
            r":\d+: interrupted stands",
        ),
        (
            '"name": "ruff"',
            '"name": "ruff",\n"exit_code": 0',
            r"manifest.json:\d+: stages.4.exit_code stands",
        ),
        ("{", "", r"manifest.json:2: not JSON"),
        ("{", "[" * 200_000, "nested too deep"),
        ("{", "{" + " " * (16 << 20), "expected at most 16777216 bytes"),
        ("{", "\udcff{", r"manifest.json:1: not UTF-8"),
        ('"seconds": 2.5', '"seconds": ' + "9" * 5000, "Exceeds the limit"),
        ('"seconds": 2.5', '"seconds": 1e400', "seconds: Input should be a finite number"),
    ],
    ids=["twice", "twice in a stage", "no JSON", "deep", "large", "no text", "long number", "too large"],
)
def test_bytes_that_are_refused(offload, old, new, message):
    text = offload.archive.manifest.read_text()
    assert read_manifest(offload.archive.manifest)
    assert old in text
    offload.archive.manifest.write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=message):
        read_manifest(offload.archive.manifest)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(
        st.tuples(st.integers(0, 9000), st.sampled_from(PIECES) | st.binary(max_size=3), st.integers(0, 9)),
        min_size=1,
        max_size=3,
    )
)
@example(edits=[(1, b'"\\ud800\\n": 1, "\\ud800\\n": 1,', 0)])
@example(edits=[(1, b'"a\nb": 1,', 0)])
@example(edits=[(1, b'"a\\nb": 1,', 0)])
def test_whatever_bytes_come_the_error_is_one_line(offload, edits):
    good = offload.archive.manifest.read_bytes()
    assert parse_strictly(good, "manifest.json", Manifest)
    for position, piece, length in edits:
        good = good[:position] + piece + good[position + length :]
    try:
        parse_strictly(good, "manifest.json", Manifest)
    except UsageError as error:
        said = str(error)
    else:
        return
    assert said.startswith("manifest.json")
    assert said == printable(said)


def test_a_manifest_is_valid_by_its_schema_and_one_with_anything_more_is_not(offload):
    schema = jsonschema.Draft202012Validator(json.loads(schema_file("manifest").read_text()))
    document = json.loads(offload.archive.manifest.read_text())
    schema.validate(document)

    def refused(where: dict) -> None:
        where["note"] = 1
        with pytest.raises(jsonschema.ValidationError, match="'note' was unexpected"):
            schema.validate(document)
        del where["note"]

    parts = ("pipeline", "environment", "source", "device", "project", "host")
    for where in (
        document,
        *(document[part] for part in parts),
        ruff(document),
        document["device"]["dies"][0],
    ):
        refused(where)
        name, value = next(iter(where.items()))
        del where[name]
        with pytest.raises(jsonschema.ValidationError, match="is a required property"):
            schema.validate(document)
        where[name] = value
    schema.validate(document)


def objects(schema: object):
    if isinstance(schema, dict):
        if "properties" in schema and "type" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("name", ["manifest", "stage-inputs", "statement"])
def test_no_object_of_a_schema_takes_a_key_that_it_does_not_name(name):
    found = list(objects(json.loads(schema_file(name).read_text())))
    assert len(found) >= 4
    assert all(one["additionalProperties"] is False for one in found)


def test_nothing_is_written_that_could_not_be_read(offload):
    now = datetime.now(UTC)
    good = {"name": "one", "status": StageStatus.PASS, "started": now, "seconds": 0.0}
    assert StageRecord(**good).seconds == 0
    for bad in -1.0, float("nan"), float("inf"):
        with pytest.raises(ValidationError):
            StageRecord(**good | {"seconds": bad})
