"""The bytes of a report depend on the archive alone: no clock, place, locale, time zone, order of hashes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from npu_assay.report.derived import DERIVED

NAMES = [derived.name for derived in DERIVED]
SETTINGS = [
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LANG": "C", "LC_ALL": "C", "COLUMNS": "20"},
    {
        "PYTHONHASHSEED": "4711",
        "TZ": "Asia/Shanghai",
        "LANG": "de_DE.UTF-8",
        "NO_COLOR": "1",
        "PYTHONUTF8": "0",
    },
]
PROGRAM = """
import sys
from pathlib import Path
from npu_assay.report.derived import derive
derive(Path(sys.argv[1]))
"""


def derived_in(folder: Path, cwd: Path, settings: dict[str, str]) -> dict[str, bytes]:
    """What a process of its own derives."""
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
    named = os.path.relpath(folder, cwd)
    subprocess.run([sys.executable, "-c", PROGRAM, named], cwd=cwd, env=os.environ | settings, check=True)
    return {name: (folder / name).read_bytes() for name in NAMES}


@pytest.mark.parametrize("which", ["good", "hostile"])
def test_a_copy_elsewhere_derived_by_another_process_has_the_same_bytes(offload, hostile, tmp_path, which):
    source = {"good": offload.root, "hostile": hostile}[which]
    first, second = tmp_path / "a", tmp_path / "another place" / "b"
    found = []
    for folder, settings in zip((first, second), SETTINGS, strict=True):
        shutil.copytree(source, folder)
        found.append(derived_in(folder, folder.parent, settings))
    assert found[0] == found[1]
    for data in found[0].values():
        assert str(tmp_path).encode() not in data
    with (first / "stages/ruff.log").open("a") as file:
        file.write("another line\n")
    assert derived_in(first, tmp_path, SETTINGS[0])["report.md"] != found[0]["report.md"]
