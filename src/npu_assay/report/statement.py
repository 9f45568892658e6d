"""statement.intoto.json: the verdict on an archive as an in-toto statement, for signing and policy tools.

An in-toto Statement v1 (in-toto attestation, spec/v1/statement.md) with the predicate test-result v0.1
(spec/predicates/test-result.md). Names of tests are `stage/<name>` and `rule/<name>/<version>`; a stage or
rule that had nothing to judge is in no list. Consumers may ignore every field that they do not know
(spec/v1/README.md, "monotonic principle"), so an emulated run has to say so where nobody can overlook it: its
best result is WARNED, and its tests are called `emulated/...`.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, ValidationError

from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import Verdict
from npu_assay.digest import sha256_of
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest
from npu_assay.report.deriver import Deriver
from npu_assay.source.record import Sha256
from npu_assay.strict import Strict, first_problem

_STATEMENT = "https://in-toto.io/Statement/v1"
_TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
#: A package URL: the deriver is published nowhere but as a checkout.
_DERIVER = "pkg:generic/npu-assay@"
#: What the statement is about, and what decided how the run was made; those that the archive has.
_SUBJECTS = ("SHA256SUMS", "source/files.sha256")
_RECORDS = ("manifest.json", "merged.json")
_CONFIGURATION = (*_RECORDS, "image.json", "inputs/lock.toml", "inputs/pipeline.toml")
#: Of a merged archive, where the manifests of its shards are.
_SHARDS = "shards/*/manifest.json"

_RESULTS: dict[Result, Literal["PASSED", "WARNED", "FAILED"]] = {
    Result.PASS: "PASSED",
    Result.INCONCLUSIVE: "WARNED",
    Result.FAIL: "FAILED",
}
_STAGES = {
    StageStatus.PASS: Result.PASS,
    StageStatus.FAIL: Result.FAIL,
    StageStatus.SKIPPED: Result.FAIL,
    StageStatus.INCONCLUSIVE: Result.INCONCLUSIVE,
    StageStatus.INTERRUPTED: Result.INCONCLUSIVE,
}
_WORST_FIRST = (Result.FAIL, Result.INCONCLUSIVE, Result.PASS)


class Digest(Strict):
    """in-toto's DigestSet."""

    sha256: Sha256


class Annotations(Strict):
    """What this project says of the archive beside what the predicate has a field for."""

    device_kind: Literal["emulated", "hardware"] = Field(alias="deviceKind")
    mode: str
    """In which the verdict was reached."""
    verdict: str
    """The last line of `npu-assay verify`."""


class ImageAnnotations(Strict):
    """What the digest of the image that the run was in stands for."""

    digest_of: Literal["manifest", "id"] = Field(alias="digestOf")


def _annotated(value: object) -> str:
    """What annotations are about; those of a run are what they have to be otherwise."""
    is_image = isinstance(value, ImageAnnotations) or (isinstance(value, dict) and "digestOf" in value)
    return "image" if is_image else "run"


class Descriptor(Strict):
    """in-toto's ResourceDescriptor: a file of the archive by its name there, an image, npu-assay."""

    name: str
    uri: str | None = None
    digest: Digest
    annotations: (
        Annotated[
            Annotated[Annotations, Tag("run")] | Annotated[ImageAnnotations, Tag("image")],
            Discriminator(_annotated),
        ]
        | None
    ) = None


class TestResult(Strict):
    """The predicate."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    result: Literal["PASSED", "WARNED", "FAILED"]
    configuration: tuple[Descriptor, ...] = Field(min_length=1)
    passed_tests: tuple[str, ...] = Field(alias="passedTests")
    warned_tests: tuple[str, ...] = Field(alias="warnedTests")
    failed_tests: tuple[str, ...] = Field(alias="failedTests")


class Statement(Strict):
    """The whole of statement.intoto.json."""

    model_config = ConfigDict(serialize_by_alias=True)

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[Descriptor, ...] = Field(min_length=1)
    predicate_type: Literal["https://in-toto.io/attestation/test-result/v0.1"] = Field(alias="predicateType")
    predicate: TestResult


def render_statement(archive: Archive, verdict: Verdict, deriver: Deriver) -> bytes:
    """The statement's bytes: keys sorted, ASCII, lines end in LF.

    Raises UsageError where the archive has no checksums, or no record of a run.
    """
    subjects = [_file(archive, name) for name in _SUBJECTS if _is_file(archive, name)]
    if not _is_file(archive, "SHA256SUMS") or not any(_is_file(archive, name) for name in _RECORDS):
        raise UsageError("no statement can be made of an archive without SHA256SUMS and manifest.json")
    statement = {
        "_type": _STATEMENT,
        "subject": subjects,
        "predicateType": _TEST_RESULT,
        "predicate": {
            "result": _result(verdict),
            "configuration": [
                *_configuration(archive, verdict),
                *_images(archive),
                _tool(deriver),
            ],
            **_tests(archive, verdict),
        },
    }
    document = Statement.model_validate(statement).model_dump(by_alias=True, exclude_none=True, mode="json")
    return json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"


def deriver_of_statement(data: bytes) -> Deriver:
    """Which npu-assay a statement names. Raises UsageError for what is no statement of npu-assay's."""
    try:
        statement = Statement.model_validate_json(data)
    except ValidationError as error:
        raise UsageError(first_problem(error)) from error
    for descriptor in statement.predicate.configuration:
        if descriptor.uri is not None and descriptor.uri.startswith(_DERIVER):
            return Deriver(descriptor.uri.removeprefix(_DERIVER), descriptor.digest.sha256)
    raise UsageError(f"predicate.configuration: nothing has a uri {_DERIVER}...")


def _is_file(archive: Archive, name: str) -> bool:
    path = archive.root / name
    return path.is_file() and not path.is_symlink()


def _file(archive: Archive, name: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": sha256_of(archive.root / name)}}


def _tool(deriver: Deriver) -> dict[str, Any]:
    return {"name": "npu-assay", "uri": _DERIVER + deriver.version, "digest": {"sha256": deriver.sha256}}


def _configuration(archive: Archive, verdict: Verdict) -> Iterator[dict[str, Any]]:
    for name in _CONFIGURATION:
        if _is_file(archive, name):
            said = {
                "deviceKind": "emulated" if verdict.emulated else "hardware",
                "mode": verdict.mode.value,
                "verdict": verdict.line,
            }
            yield _file(archive, name) | ({"annotations": said} if name in _RECORDS else {})


def _images(archive: Archive) -> Iterator[dict[str, Any]]:
    """The images that the run, or its shards, were in: those whose digest is known, each once."""
    seen: set[str] = set()
    for manifest in _readable(archive):
        image = manifest.image
        if image is None or image.digest is None or str(image.digest) in seen:
            continue
        seen.add(str(image.digest))
        digest = {"sha256": image.digest.sha256}
        yield {"name": image.name, "digest": digest, "annotations": {"digestOf": image.digest.of}}


def _result(verdict: Verdict) -> str:
    """An emulated pass is no evidence about an NPU: a policy that asks for PASSED must not take it."""
    if verdict.emulated and verdict.result is Result.PASS:
        return "WARNED"
    return _RESULTS[verdict.result]


def _tests(archive: Archive, verdict: Verdict) -> dict[str, list[str]]:
    """Tests by their worst result."""
    results: dict[str, set[Result]] = {}
    for name, result in [*_stages(archive), *_rules(verdict)]:
        results.setdefault(f"emulated/{name}" if verdict.emulated else name, set()).add(result)
    worst = {
        name: next(result for result in _WORST_FIRST if result in found) for name, found in results.items()
    }
    lists = {"passedTests": Result.PASS, "warnedTests": Result.INCONCLUSIVE, "failedTests": Result.FAIL}
    return {
        key: sorted(name for name, found in worst.items() if found is result) for key, result in lists.items()
    }


def _stages(archive: Archive) -> Iterator[tuple[str, Result]]:
    """What ran, by the manifests."""
    for manifest in _readable(archive):
        for stage in manifest.stages:
            if stage.status in _STAGES:
                yield f"stage/{stage.name}", _STAGES[stage.status]


def _readable(archive: Archive) -> Iterator[Manifest]:
    """The manifests; one that can't be read is a failed finding of the verdict's."""
    for path in _manifests(archive):
        with suppress(AssayError):
            yield read_manifest(path)


def _manifests(archive: Archive) -> Iterable[Path]:
    found = [archive.manifest, *sorted(archive.root.glob(_SHARDS))]
    return [path for path in found if _is_file(archive, path.relative_to(archive.root).as_posix())]


def _rules(verdict: Verdict) -> Iterator[tuple[str, Result]]:
    for finding in verdict.findings:
        if finding.result is not Result.NOT_APPLICABLE:
            yield f"rule/{finding.rule}", finding.result
