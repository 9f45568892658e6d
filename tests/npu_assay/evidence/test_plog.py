"""Which of CANN's logs an archive keeps."""

import os
from pathlib import Path

import pytest

from npu_assay.evidence.archive import Archive, create_archive, special_files
from npu_assay.evidence.plog import keep_plog

LOGS = ("debug/device-0/device-7_1.log", "run/plog/plog-7_2.log", "debug/plog/plog-7_3.log")


@pytest.fixture
def archive(tmp_path) -> Archive:
    archive = create_archive(tmp_path / "run")
    archive.manifest.write_text("{}")
    return archive


@pytest.fixture
def source(tmp_path) -> Path:
    """Three logs of 100 bytes; the last one is the newest."""
    for age, name in enumerate(
        ("debug/device-0/device-7_1.log", "run/plog/plog-7_2.log", "debug/plog/plog-7_3.log")
    ):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([age]) * 100)
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    return tmp_path / "logs"


def kept(archive: Archive) -> list[str]:
    folder = archive.plog("engine")
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_all_logs_are_kept_as_cann_laid_them_out(archive, source):
    keep_plog(archive, "engine", source)
    assert kept(archive) == [
        "debug/device-0/device-7_1.log",
        "debug/plog/plog-7_3.log",
        "run/plog/plog-7_2.log",
    ]
    assert (archive.plog("engine") / "debug/plog/plog-7_3.log").read_bytes() == b"\2" * 100


def test_the_newest_are_kept_and_what_is_left_out_is_named(archive, source):
    keep_plog(archive, "engine", source, most=200)
    assert kept(archive) == ["debug/plog/plog-7_3.log", "left-out.txt", "run/plog/plog-7_2.log"]
    said = (archive.plog("engine") / "left-out.txt").read_text()
    assert said == "debug/device-0/device-7_1.log: 100 bytes; the newest, 200 bytes in all, were kept\n"


def test_what_is_no_log_is_left_out(archive, source):
    (source / "link").symlink_to("/etc/hostname")
    os.mkfifo(source / "pipe")
    (source / "a\nb.log").write_text("x")
    (source / "left-out.txt").write_text("not ours")
    (source / "empty.log").touch()
    keep_plog(archive, "engine", source)
    assert len(kept(archive)) == 4
    assert (archive.plog("engine") / "left-out.txt").read_text().splitlines() == [
        *("a\\nb.log: its name", "left-out.txt: its name", "link: no regular file", "pipe: no regular file"),
    ]
    assert special_files(archive.root) == []


@pytest.mark.parametrize("there", [True, False])
def test_where_there_is_no_log_there_is_no_folder(archive, tmp_path, there):
    if there:
        (tmp_path / "logs" / "debug").mkdir(parents=True)
    keep_plog(archive, "engine", tmp_path / "logs")
    assert not (archive.root / "plog").exists()
