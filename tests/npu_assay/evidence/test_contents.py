"""Files are found and hashed without following links, in little memory, whatever they are called."""

import hashlib
import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from npu_assay.evidence import contents as module
from npu_assay.evidence.contents import contents_of, hash_files

NAMES = (
    "plain",
    "with space",
    "new\nline",
    "back\\slash",
    os.fsdecode(b"\xff\xfe"),
    ".hidden",
    "deep/er/file",
)


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in NAMES:
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.fsencode(name) * 9)
    return tmp_path / "root"


def test_every_file_is_found_and_hashed_as_hashlib_does(folder):
    found = contents_of(folder)
    assert found.sizes == {name: len(os.fsencode(name)) * 9 for name in NAMES}
    assert found.special == frozenset()
    assert hash_files(folder, found.sizes) == {
        name: hashlib.sha256(os.fsencode(name) * 9).hexdigest() for name in NAMES
    }


@pytest.mark.parametrize(
    "plant",
    [
        lambda path: path.symlink_to("plain"),
        lambda path: path.symlink_to("/"),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(path.name),
        os.mkfifo,
        lambda path: socket.socket(socket.AF_UNIX).bind(str(path)),
    ],
    ids=["link", "link to a folder", "dangling link", "link to itself", "pipe", "socket"],
)
def test_what_is_no_file_is_named_and_never_opened(folder, plant):
    good = contents_of(folder)
    plant(folder / "deep" / "it")
    found = contents_of(folder)
    assert found.special == {"deep/it"}
    assert found.sizes == good.sizes
    (error,) = hash_files(folder, {"deep/it": 0}).values()
    assert isinstance(error, OSError)


def test_a_folder_that_cannot_be_read_is_named(folder, monkeypatch):
    """Root may read everything, so the refusal is put in its place."""
    assert contents_of(folder).special == frozenset()
    real = os.scandir

    def refuse(path):
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(module.os, "scandir", refuse)
    assert contents_of(folder).special == {"deep"}


def test_a_file_that_vanishes_is_an_error_of_its_own(folder):
    sizes = contents_of(folder).sizes
    (folder / "plain").unlink()
    found = hash_files(folder, sizes)
    assert isinstance(found.pop("plain"), FileNotFoundError)
    assert all(isinstance(one, str) for one in found.values())


def test_large_files_take_little_memory(tmp_path):
    sizes = dict.fromkeys(("one", "two", "three"), 48 << 20)
    for name, size in sizes.items():
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, size)
    tracemalloc.start()
    try:
        found = hash_files(tmp_path, sizes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert set(found.values()) == {hashlib.sha256(bytes(48 << 20)).hexdigest()}
    assert peak < 4 << 20
