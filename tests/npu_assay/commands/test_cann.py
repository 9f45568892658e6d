"""`npu-assay cann check`: the findings, the files that are kept, the exit code."""

import json
import platform
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from npu_assay.cli import cli
from npu_assay.errors import AssayError, UnusableError, UsageError

ARCH = platform.machine()
INFO = f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An emulated CANN's tree, without its libraries."""
    root = tmp_path / "Ascend"
    files = {
        INFO: f"package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=EMULATED\narch={ARCH}\n",
        "cann-9.0.0/set_env.sh": "export A=1\n",
        "nnal/atb/9.0.0/version.info": "Ascend-cann-atb Version : 9.0.0.EMULATED\r\n",
        "nnal/atb/set_env.sh": "export B=1\n",
        "driver/version.info": "Version=25.5.1+emulated\nInnerversion=EMULATED\n",
        "driver/lib64/driver/libascend_hal.so": "",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    (root / "cann").symlink_to("cann-9.0.0")
    (root / "nnal/atb/latest").symlink_to("9.0.0")
    return root


def check(root: Path, *options: str) -> Result:
    variables = {
        "ASCEND_HOME_PATH": str(root / "cann"),
        "ASCEND_TOOLKIT_HOME": None,
        "ATB_HOME_PATH": None,
        "LD_LIBRARY_PATH": str(root / "driver/lib64/driver"),
    }
    return CliRunner().invoke(cli, ["cann", "check", *options], env=variables)


def test_a_good_cann_is_told_and_its_files_are_kept_as_they_are(root: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    result = check(root, "--raw", str(raw))
    assert result.exit_code == 0, result.output
    assert f"good cann: CANN 9.0.0 (EMULATED) in {root}/cann-9.0.0" in result.output
    assert result.output.endswith("problems: 0\n")
    listing = json.loads((raw / "files.json").read_text())
    assert listing["machine"] == ARCH
    kept = {file["role"]: Path(file["found"]) for file in listing["files"]}
    assert kept["toolkit"] == root / INFO
    for role in ("toolkit", "atb", "driver"):
        assert (raw / role / kept[role].name).read_bytes() == kept[role].read_bytes()


def test_a_moved_emulated_cann_is_a_good_one(root: Path) -> None:
    path = root / INFO
    path.write_text(f"{path.read_text()}path=/elsewhere/cann-9.0.0\n")
    result = check(root)
    assert "elsewhere" not in result.output
    assert result.output.endswith("problems: 0\n")


def test_a_folder_that_cannot_be_written_is_named(root: Path) -> None:
    result = check(root, "--raw", "/proc/nowhere")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == "--raw /proc/nowhere: can't be written (No such file or directory)"


def test_a_problem_is_exit_code_1_and_the_files_are_kept_all_the_same(root: Path, tmp_path: Path) -> None:
    assert check(root).exit_code == 0
    (root / "driver/version.info").write_text("Version=24.1.rc3\nInnerversion=EMULATED\n")
    result = check(root, "--raw", str(tmp_path / "raw"))
    assert "problem cann-driver: driver 24.1.rc3 is too old for CANN 9.0.0" in result.output
    assert " -> on the host: sudo ./Ascend-hdk-" in result.output
    assert (tmp_path / "raw/driver/version.info").is_file()
    assert isinstance(result.exception, AssayError)
    assert result.exception.exit_code == 1


def test_no_cann_is_exit_code_4(root: Path, tmp_path: Path) -> None:
    assert check(root).exit_code == 0
    result = check(tmp_path / "gone", "--root", str(tmp_path / "gone"), "--raw", str(tmp_path / "raw"))
    assert "problem cann: no CANN: none in ASCEND_HOME_PATH" in result.output
    assert " -> npu-assay cann install --from DIR\n" in result.output
    assert isinstance(result.exception, UnusableError)
    assert str(result.exception) == f"no CANN in the variables of this shell, nor below {tmp_path}/gone"
    assert not (tmp_path / "raw").exists()
