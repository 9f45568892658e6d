"""`npu-assay cann install`, with stand-ins of the vendor's packages and a lock that has their hashes."""

import platform
import shutil
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from planted_ascend import B250
from stand_in_packages import StandIn, snapshot

from npu_assay.cann.agreement import Part
from npu_assay.cli import cli
from npu_assay.environment.lock import load_lock
from npu_assay.environment.recording import record
from npu_assay.errors import UsageError
from npu_assay.project import ENVIRONMENTS

NAME = "cann900-vllm018"
ARCH = platform.machine()
PACKAGES = (
    StandIn(Part.TOOLKIT, arch=ARCH),
    StandIn(Part.OPS, arch=ARCH),
    StandIn(Part.NNAL, build="B160", arch=ARCH),
)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    for package in PACKAGES:
        package.write(folder)
    return folder


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's locks, copied, in place of its own."""
    folder = tmp_path / "locks"
    shutil.copytree(ENVIRONMENTS, folder)
    monkeypatch.setattr("npu_assay.commands.cann.load_lock", partial(load_lock, folder=folder))
    return folder


def install(root: Path, *options: str) -> Result:
    variables = {
        "NPU_ASSAY_CACHE": str(root.parent / "cache"),
        "ASCEND_HOME_PATH": None,
        "ASCEND_TOOLKIT_HOME": None,
        "ATB_HOME_PATH": None,
    }
    return CliRunner().invoke(cli, ["cann", "install", "--install-path", str(root), *options], env=variables)


def test_what_the_lock_names_is_installed_and_told_and_then_there_is_nothing_to_do(
    tmp_path: Path, packages: Path, locks: Path
) -> None:
    record(load_lock(NAME, locks), (packages / package.file for package in PACKAGES))
    root = tmp_path / "Ascend"
    first = install(root, "--from", str(packages), "--accept-licence")
    assert first.exit_code == 0, first.output
    assert f"CANN 9.0.0 ({B250}) in {root}/cann-9.0.0, the only one, with ATB 9.0.0 (B160)" in first.output
    assert f"in every shell that is to use it: . {root}/cann-9.0.0/set_env.sh" in first.output
    assert [line.split()[0] for line in (packages / "calls").read_text().splitlines()] == [
        package.file for package in PACKAGES
    ]

    before = snapshot(root)
    second = install(root)
    assert second.exit_code == 0, second.output
    assert second.output.startswith(f"nothing to do: all of it is below {root}\n")
    assert snapshot(root) == before


def test_the_shell_s_own_cann_is_enough(tmp_path: Path, packages: Path, locks: Path) -> None:
    record(load_lock(NAME, locks), (packages / package.file for package in PACKAGES))
    root = tmp_path / "Ascend"
    install(root, "--from", str(packages), "--accept-licence")
    result = CliRunner().invoke(
        cli,
        ["cann", "install"],
        env={"ASCEND_HOME_PATH": f"{root}/cann", "ASCEND_TOOLKIT_HOME": None, "ATB_HOME_PATH": None},
    )
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"nothing to do: CANN 9.0.0 ({B250}) in {root}/cann-9.0.0")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "accepts the vendor's licence .* then say --accept-licence"),  # nor is anything downloaded
        (("--from", "{packages}"), "accepts the vendor's licence .* then say --accept-licence"),
        (
            ("--from", "{packages}", "--accept-licence"),
            f"nobody has recorded its sha256.* npu-assay env lock {NAME} --record",
        ),
        (("--from", "/gone"), "--from /gone: no such file or folder"),
    ],
)
def test_what_is_missing_is_one_line_and_nothing_runs(
    tmp_path: Path, packages: Path, options: tuple[str, ...], says: str
) -> None:
    words = [option.format(packages=packages) for option in options]
    result = install(tmp_path / "Ascend", *words)
    with pytest.raises(UsageError, match=says):
        raise result.exception or AssertionError(result.output)
    assert not (packages / "calls").exists()
    assert not (tmp_path / "Ascend/cann-9.0.0").exists()
