"""Recording a hash changes that hash in the lock and nothing else."""

import hashlib
import shutil
from pathlib import Path

import pytest

from npu_assay.environment.lock import Lock, load_lock
from npu_assay.environment.recording import record, record_image, slots
from npu_assay.environment.variant import Variant
from npu_assay.errors import UsageError
from npu_assay.project import ENVIRONMENTS

TOOLKIT = "Ascend-cann-toolkit_9.0.0_linux-x86_64.run"
TRITON = "triton_ascend-3.2.1-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def lock(tmp_path: Path) -> Lock:
    """A copy of our own lock."""
    shutil.copytree(ENVIRONMENTS, tmp_path / "locks")
    return load_lock("cann900-vllm018", tmp_path / "locks")


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in (TOOLKIT, TRITON):
        (folder / name).write_text(name)
    return folder


def test_only_the_hash_changes(lock: Lock, downloads: Path) -> None:
    before = lock.path.read_text().splitlines()
    recorded = record(lock, [downloads / TOOLKIT, downloads / TRITON])
    assert [(one.slot.where, one.changed) for one in recorded] == [
        ("components.cann.sha256.x86_64", True),
        ("components.triton-ascend.sha256.aarch64", True),
    ]
    after = lock.path.read_text().splitlines()
    assert len(after) == len(before)
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [new for _, new in changed] == [
        old.replace(f'{key} = "unverified"', f'{key} = "{sha256(name.encode())}"')
        for (old, _), key, name in zip(changed, ("aarch64", "x86_64"), (TRITON, TOOLKIT), strict=True)
    ]
    again = load_lock(lock.name, lock.path.parent)
    assert again.content.components["cann"].sha256["x86_64"] == sha256(TOOLKIT.encode())
    assert [path.name for path in lock.path.parent.iterdir() if path.name.startswith(".")] == []


def test_what_is_recorded_is_verified_on_that_architecture(
    lock: Lock, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert "cann" in Variant.of(lock, "hardware").unverified
    record(lock, [downloads / TOOLKIT])
    again = load_lock(lock.name, lock.path.parent)
    assert Variant.of(again, "hardware").unverified == ("cann-ops", "nnal")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert "cann" in Variant.of(again, "hardware").unverified


def test_the_same_file_again_writes_nothing(lock: Lock, downloads: Path) -> None:
    record(lock, [downloads / TOOLKIT])
    again = load_lock(lock.name, lock.path.parent)
    written = lock.path.stat().st_mtime_ns
    [recorded] = record(again, [downloads / TOOLKIT])
    assert not recorded.changed
    assert lock.path.stat().st_mtime_ns == written


def test_another_file_of_that_name_needs_force(lock: Lock, downloads: Path) -> None:
    record(lock, [downloads / TOOLKIT])
    again = load_lock(lock.name, lock.path.parent)
    first, text = sha256(TOOLKIT.encode()), lock.path.read_text()
    (downloads / TOOLKIT).write_text("another build")
    with pytest.raises(UsageError) as raised:
        record(again, [downloads / TRITON, downloads / TOOLKIT])
    for part in (first, sha256(b"another build"), "components.cann.sha256.x86_64", "--force"):
        assert part in str(raised.value)
    assert lock.path.read_text() == text, "not even the first file was recorded"
    record(again, [downloads / TOOLKIT], force=True)
    assert sha256(b"another build") in lock.path.read_text()


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("torch-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl", "components.torch.sha256.x86_64"),
        (
            "triton_ascend-3.2.0-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
            "components.triton-ascend.emulated.sha256.aarch64",
        ),
        ("vllm-0.18.0.tar.gz", "components.vllm.sha256.sdist"),
        ("torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl", None),
        ("torch-2.9.0-cp311-cp311-win_amd64.whl", None),
        ("vllm-0.18.0-cp38-abi3-manylinux_2_31_x86_64.whl", None),
        ("Ascend-cann-toolkit_9.0.1_linux-x86_64.run", None),
        ("README.md", None),
    ],
)
def test_a_file_is_known_by_its_name(lock: Lock, name: str, where: str | None) -> None:
    found = [slot.where for slot in slots(lock) if slot.takes(name)]
    assert found == ([where] if where else [])


def test_an_unknown_name_is_refused_with_those_that_are_expected(lock: Lock, downloads: Path) -> None:
    (downloads / "cann.run").touch()
    with pytest.raises(UsageError, match="no component of cann900-vllm018 is a file of that name") as raised:
        record(lock, [downloads / "cann.run"])
    assert TOOLKIT in str(raised.value)
    with pytest.raises(UsageError, match=r"can't be read \(No such file"):
        record(lock, [downloads / TOOLKIT.replace("toolkit", "nnal")])


DIGEST = f"sha256:{'a' * 64}"
TAG = "9.0.0-910b-ubuntu22.04-py3.11"


@pytest.mark.parametrize("given", [f"{TAG}@{DIGEST}", f"registry.example:5000/ascend/cann:{TAG}@{DIGEST}"])
def test_the_vendors_image_is_one_more_line(lock: Lock, given: str) -> None:
    before = lock.path.read_text().splitlines()
    assert record_image(lock, given) == f"{TAG}@{DIGEST}"
    after = lock.path.read_text().splitlines()
    (line,) = (line for line in after if line not in before)
    after.remove(line)
    assert after == before
    image = load_lock(lock.name, lock.path.parent).content.components["cann"].image
    assert image is not None
    assert (image.tag, image.digest) == (TAG, DIGEST)


def test_another_image_needs_force(lock: Lock) -> None:
    record_image(lock, f"{TAG}@{DIGEST}")
    lock = load_lock(lock.name, lock.path.parent)
    record_image(lock, f"{TAG}@{DIGEST}")
    other = f"{TAG}@sha256:{'b' * 64}"
    before = lock.path.read_bytes()
    with pytest.raises(UsageError, match=rf"has {TAG}@{DIGEST}; find out which .* --force if it is this one"):
        record_image(lock, other)
    assert lock.path.read_bytes() == before
    record_image(lock, other, force=True)
    assert other.encode().partition(b"@")[2] in lock.path.read_bytes()


@pytest.mark.parametrize("image", [TAG, f"{TAG}@{DIGEST[:-1]}", f"@{DIGEST}", f"a tag@{DIGEST}"])
def test_an_image_without_tag_or_digest_is_none(lock: Lock, image: str) -> None:
    record_image(lock, f"{TAG}@{DIGEST}")
    before = lock.path.read_bytes()
    with pytest.raises(UsageError, match="expected TAG@sha256:"):
        record_image(lock, image)
    assert lock.path.read_bytes() == before
