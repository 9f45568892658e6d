"""The emulator's GoogleTest tests, built beside the emulator that everything else runs on."""

import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from npu_assay.cache import folder_lock
from npu_assay.cann.emulated import EmulatedProvider
from npu_assay.environment.environment import Environment

SOURCES = Path(__file__).parent


def bring_up_to_date(copy: Path) -> None:
    """Make `copy` the same as this folder, touching only what differs: only that is compiled again."""
    wanted = {
        path.relative_to(SOURCES) for path in SOURCES.rglob("*") if path.is_file() and path.suffix != ".pyc"
    }
    for name in wanted:
        content = (SOURCES / name).read_bytes()
        if not (copy / name).is_file() or (copy / name).read_bytes() != content:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
    for path in list(copy.rglob("*")):
        if path.is_file() and path.relative_to(copy) not in wanted:
            path.unlink()


@pytest.mark.environment
def test_every_googletest_passes(environment: Environment, tmp_path: Path) -> None:
    provider = environment.provider
    assert isinstance(provider, EmulatedProvider)
    folder = provider.folder(environment.target)
    build, results = folder / "build", tmp_path / "results.xml"
    variables = {**environment.variables(adaptations=False), "PATH": os.environ["PATH"]}
    with folder_lock(folder):
        bring_up_to_date(folder / "tests" / "emucann")
        for command in (
            ["cmake", "-DBUILD_TESTING=ON", build],
            ["cmake", "--build", build, "-j", str(len(os.sched_getaffinity(0)))],
            [
                "ctest",
                "--test-dir",
                build,
                "--output-on-failure",
                "--no-tests=error",
                "--output-junit",
                results,
            ],
        ):
            step = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
            assert step.returncode == 0, (step.stdout + step.stderr)[-4000:]
    suite = ElementTree.parse(results).getroot()
    assert int(suite.get("tests", 0)) > 0
    assert [suite.get(name) for name in ("failures", "skipped", "disabled")] == ["0", "0", "0"]


def test_copies_follow_their_source(tmp_path: Path) -> None:
    bring_up_to_date(tmp_path / "copy")
    same = (tmp_path / "copy" / "CMakeLists.txt").stat().st_mtime_ns
    (tmp_path / "copy" / "extra.cpp").touch()
    bring_up_to_date(tmp_path / "copy")
    assert (tmp_path / "copy" / "CMakeLists.txt").stat().st_mtime_ns == same
    assert not (tmp_path / "copy" / "extra.cpp").exists()
