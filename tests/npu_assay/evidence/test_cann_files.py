"""The list of kept version files is checked before anything is read by it."""

import json
from pathlib import Path

import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.cann_files import Role, read_file, read_kept

DRIVER = {"role": "driver", "found": "/usr/local/Ascend/driver/version.info", "names": []}


def write(folder: Path, **changes: object) -> None:
    listing = {"schema_version": 1, "machine": "aarch64", "files": [DRIVER]} | changes
    (folder / "files.json").write_text(json.dumps(listing))


def test_a_kept_file_is_read_by_its_role(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver/version.info").write_text("Version=25.5.1\n")
    kept = read_kept(tmp_path).of(Role.DRIVER)
    assert kept is not None
    assert read_file(tmp_path, kept).value.version == "25.5.1"
    (tmp_path / "driver/version.info").write_text("Version=25.5.1\nVersion=25.5.2\n")
    problem = read_file(tmp_path, kept).problem
    assert problem == "cann/driver/version.info:2: Version stands twice, first in line 1; which one counts?"
    (tmp_path / "driver/version.info").unlink()
    assert read_file(tmp_path, kept).problem == "cann/driver/version.info: missing; files.json lists it"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"files": [DRIVER, DRIVER]}, "files: Value error, driver stands twice"),
        ({"files": [DRIVER | {"found": "driver/version.info"}]}, "must be a whole path"),
        ({"files": [DRIVER | {"found": "/a/../../../etc/passwd"}]}, "must be a whole path"),
        ({"files": [DRIVER | {"role": "engine"}]}, "files.0.role: "),
        ({"more": 1}, "more: Extra inputs are not permitted"),
        ({"schema_version": 2}, "schema_version: "),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    write(tmp_path)
    assert read_kept(tmp_path).machine == "aarch64"
    write(tmp_path, **changes)
    with pytest.raises(UsageError, match=r"^cann/files\.json: ") as raised:
        read_kept(tmp_path)
    assert says in str(raised.value)
