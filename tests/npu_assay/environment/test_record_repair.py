"""RECORD after a file was changed: the row is the file's, the others are as they were."""

import base64
import hashlib
from pathlib import Path

import pytest

from npu_assay.environment.record_repair import repair_record
from npu_assay.errors import UnusableError


@pytest.fixture
def site(tmp_path: Path) -> Path:
    info = tmp_path / "thing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
    (tmp_path / "thing.py").write_text("new")
    (tmp_path / "added.json").write_text("{}")
    (info / "RECORD").write_text('thing.py,sha256=old,3\n"a,b.py",sha256=x,1\nthing-1.0.dist-info/RECORD,,\n')
    return tmp_path


def row(path: Path) -> str:
    content = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path.name},sha256={digest},{len(content)}"


def test_a_changed_and_an_added_file_get_their_rows(site: Path) -> None:
    repair_record(site, "thing", ["thing.py"], added=["added.json"])
    record = site / "thing-1.0.dist-info" / "RECORD"
    expected = [
        row(site / "thing.py"),
        '"a,b.py",sha256=x,1',
        "thing-1.0.dist-info/RECORD,,",
        row(site / "added.json"),
    ]
    assert record.read_text().splitlines() == expected
    once = record.stat().st_mtime_ns
    repair_record(site, "thing", ["thing.py"], added=["added.json"])
    assert record.stat().st_mtime_ns == once


def test_a_file_that_record_does_not_list_is_no_file_of_the_distribution(site: Path) -> None:
    with pytest.raises(UnusableError, match=r"RECORD: does not list other\.py"):
        repair_record(site, "thing", ["other.py"])
    with pytest.raises(UnusableError, match="no RECORD of absent"):
        repair_record(site, "absent", ["thing.py"])
