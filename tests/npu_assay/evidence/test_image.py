"""The image that a process is in, and what its variables say of it."""

from pathlib import Path

import pytest

from npu_assay.environment.lock import load_lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import UsageError
from npu_assay.evidence.image import (
    DIGEST_VARIABLE,
    REFERENCE_VARIABLE,
    ImageDigest,
    ImageRecord,
    image_of_run,
    image_record,
    write_image,
)

SHA256 = "0123456789abcdef" * 4
GOOD = {REFERENCE_VARIABLE: "me/npu-assay:cann900", DIGEST_VARIABLE: f"sha256:{SHA256}"}


@pytest.fixture
def record() -> ImageRecord:
    """As an image's last layer writes it."""
    variant = Variant.of(load_lock("cann900-vllm018"), "emulated")
    return image_record(variant, "x86_64", "emulated", kind="dev", base="debian@sha256:0", revision="a" * 40)


@pytest.fixture
def file(tmp_path: Path, record: ImageRecord) -> Path:
    write_image(tmp_path / "image.json", record)
    return tmp_path / "image.json"


def test_outside_of_an_image_there_is_none_and_nothing_may_be_said_of_it(tmp_path: Path) -> None:
    nowhere = tmp_path / "image.json"
    assert image_of_run({}, nowhere) is None
    assert image_of_run(dict.fromkeys(GOOD, ""), nowhere) is None
    with pytest.raises(UsageError, match=r"NPU_ASSAY_IMAGE is set, but this is no image of npu-assay: no /"):
        image_of_run(GOOD, nowhere)


def test_an_image_says_what_it_is_and_the_variables_which_one(file: Path, record: ImageRecord) -> None:
    assert image_of_run({}, file) == record
    found = image_of_run(GOOD, file)
    assert found is not None
    assert (found.name, str(found.digest)) == ("me/npu-assay:cann900", f"sha256:{SHA256} (id)")
    assert found.model_copy(update={"reference": None, "digest": None}) == record


@pytest.mark.parametrize(
    ("text", "of"),
    [
        (f"sha256:{SHA256}", "id"),
        (f"npu-assay@sha256:{SHA256}", "manifest"),
        (f"registry.example:5000/me/npu-assay@sha256:{SHA256}", "manifest"),
    ],
)
def test_a_digest_is_written_as_docker_writes_it(file: Path, text: str, of: str) -> None:
    found = image_of_run({DIGEST_VARIABLE: text}, file)
    assert found is not None
    assert found.digest == ImageDigest(of=of, sha256=SHA256)


@pytest.mark.parametrize(
    "text",
    [
        SHA256,
        f"sha256:{SHA256[1:]}",
        f"sha256:{SHA256}0",
        f"sha256:{SHA256.upper()}",
        f"sha512:{SHA256}",
        f"@sha256:{SHA256}",
        f"a b@sha256:{SHA256}",
        f"sha256:{SHA256}\n",
        "npu-assay:latest",
    ],
)
def test_what_is_no_digest_is_refused(file: Path, text: str) -> None:
    assert image_of_run(GOOD, file)
    with pytest.raises(UsageError, match=r"NPU_ASSAY_IMAGE_DIGEST is .*, expected sha256: and 64 hex"):
        image_of_run({DIGEST_VARIABLE: text}, file)


@pytest.mark.parametrize("name", ["a b", "-image", "image\n", "\x1b[31m", "i" * 513])
def test_what_is_no_name_is_refused(file: Path, name: str) -> None:
    assert image_of_run(GOOD, file)
    with pytest.raises(UsageError, match=r"NPU_ASSAY_IMAGE is .*, expected an image's name"):
        image_of_run({REFERENCE_VARIABLE: name}, file)


def test_an_image_that_says_something_else_of_itself_is_refused(file: Path) -> None:
    assert image_of_run({}, file)
    file.write_text(file.read_text().replace('"kind"', '"sort"'))
    with pytest.raises(UsageError, match=r"image\.json: kind: Field required"):
        image_of_run({}, file)
