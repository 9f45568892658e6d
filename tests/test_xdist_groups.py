"""Groups of tests stay together under xdist."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import xdist_groups

_TESTS = """\
import os, time
import pytest

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("number", range(4))
def test_one(number):
    with open("workers", "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
    time.sleep(0.1)

@pytest.mark.parametrize("number", range(4))
def test_another(number):
    time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("conftest", "workers"),
    [("from xdist_groups import pytest_collection_modifyitems", 1), ("", 2)],
    ids=["with the hook", "as pytest-xdist 3.8 does alone"],
)
def test_a_group_is_run_by_one_worker(tmp_path: Path, conftest: str, workers: int) -> None:
    """The second case goes when a later pytest-xdist can do without the hook; then the hook does, too."""
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_groups.py").write_text(_TESTS)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(xdist_groups.__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "8 passed" in ended.stdout, ended.stdout
    assert len({*(tmp_path / "workers").read_text().split()}) == workers
