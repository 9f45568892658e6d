"""The rule image: what a run says of its image is what an image of its lock says of itself."""

import json

import pytest
from mutations.test_every_value import changed, entries
from offload_archive import OffloadArchive, messages, to_hardware

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.emulation import sign_of_emulation
from npu_assay.claims.findings import Result


def of_image(offload: OffloadArchive, mode: Mode, result: Result) -> list[str]:
    """What the rule finds with that result."""
    return [line for line in messages(offload.verdict(mode), result) if line.startswith("image/1: ")]


def test_a_run_outside_of_an_image_has_nothing_to_judge(offload: OffloadArchive) -> None:
    assert offload.verdict().result is Result.PASS
    (nothing,) = of_image(offload, Mode.EMULATED, Result.NOT_APPLICABLE)
    assert "in no image of npu-assay" in nothing


def test_an_image_of_the_runs_lock_passes_and_its_digest_is_said(offload: OffloadArchive) -> None:
    offload.put_in_image()
    verdict = offload.verdict()
    assert verdict.result is Result.PASS, messages(verdict, Result.FAIL)
    lock, digest = of_image(offload, Mode.EMULATED, Result.PASS)
    assert "an image of the run's lock for emulated on " in lock
    assert f"sha256:{'f' * 64} (manifest) image.json manifest.json:" in digest


def test_without_a_digest_an_emulated_run_passes_and_says_so_and_a_formal_one_is_inconclusive(
    offload: OffloadArchive,
) -> None:
    offload.put_in_image(digest=None)
    assert offload.verdict().result is Result.PASS
    assert "digest not given" in of_image(offload, Mode.EMULATED, Result.PASS)[1]
    to_hardware(offload)
    offload.put_in_image()
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    offload.put_in_image(digest=None)
    assert offload.verdict(Mode.FORMAL).result is Result.INCONCLUSIVE
    assert "digest not given" in of_image(offload, Mode.FORMAL, Result.INCONCLUSIVE)[0]


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ({"architecture": "sparc"}, "image.architecture: Input should be 'x86_64' or 'aarch64'"),
        ({"target": "cann900-vllm018-emulated-riscv64"}, "target is 'cann900-vllm018-emulated-riscv64'"),
        ({"lock": "cann900-vllm0221"}, "lock is 'cann900-vllm0221', of this lock's image 'cann900-vllm018'"),
        ({"lock_sha256": "0" * 64}, "lock_sha256 is '000"),
        ({"device": "npu"}, "device is 'npu', of this lock's image 'emulated'"),
        ({"cann": "9.0.0 B1"}, "cann is '9.0.0 B1', of this lock's image '9.0.0 EMULATED'"),
        ({"cann_source": "image"}, "is no image for emulated on "),
        ({"commits": {"vllm": "0" * 40}}, "commits is "),
    ],
)
def test_an_image_of_something_else_fails(
    offload: OffloadArchive, record: dict[str, object], found: str
) -> None:
    offload.put_in_image()
    assert offload.verdict().result is Result.PASS
    offload.put_in_image(**record)
    failed = messages(offload.verdict(), Result.FAIL)
    assert any(found in line for line in failed), failed


def test_an_emulated_image_is_a_sign_of_emulation_by_itself(offload: OffloadArchive) -> None:
    to_hardware(offload)
    offload.put_in_image()
    offload.seal()
    assert sign_of_emulation(Case(offload.archive, Mode.FORMAL)) is None
    offload.put_in_image(device="emulated", cann_source="emulated")
    offload.seal()
    assert sign_of_emulation(Case(offload.archive, Mode.FORMAL)) == "image.json is of an emulated image"


def test_no_value_of_image_json_is_changed_unnoticed(offload: OffloadArchive) -> None:
    offload.put_in_image()
    record = offload.manifest.image
    document = record.model_dump(mode="json")
    assert offload.verdict().result is Result.PASS
    for path in entries(document):
        for drop in (False, True):
            edited = changed(document, path, drop)
            if edited == document or (path in (("schema_version",), ("revision",)) and drop):  # its default
                continue
            offload.write("image.json", json.dumps(edited))
            assert offload.verdict().result is Result.FAIL, path
