"""Wheels of Python and compiled parts, and what is told of a build that fails."""

import zipfile
from pathlib import Path

import pytest

from npu_assay.environment.ascend_build.wheels import (
    Member,
    build_error,
    compiled_members,
    members_of,
    put_together,
    read_parts,
    tag_of,
    write_parts,
)
from npu_assay.environment.record import digest_of, parse_record
from npu_assay.errors import UnusableError

INFO = "vllm_ascend-1.0+tree.0.dist-info"
PYTHON = {
    "vllm_ascend/__init__.py": "pass\n",
    "vllm_ascend/a,b.py": "1\n",
    "vllm_ascend/old.so": "of another build",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: vllm_ascend\nVersion: 1.0+tree.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": "",
}
PARTS = [
    Member("vllm_ascend/vllm_ascend_C.so", b"\x7fELF", 0o755),
    Member("vllm_ascend/_cann_ops_custom/vendors/x/op.json", b"{}"),
]
TAG = "cp311-cp311-linux_aarch64"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    path = tmp_path / "vllm_ascend-1.0+tree.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in PYTHON.items():
            archive.writestr(name, text)
    return path


def test_python_and_parts_are_one_wheel_for_the_platform(python: Path, tmp_path: Path) -> None:
    wheel = put_together(python, PARTS, TAG, tmp_path)
    assert wheel.name == f"vllm_ascend-1.0+tree.0-{TAG}.whl"
    assert tag_of(wheel) == TAG
    members = {member.name: member for member in members_of(wheel)}
    assert set(members) == set(PYTHON) - {"vllm_ascend/old.so"} | {part.name for part in PARTS}
    assert members["vllm_ascend/vllm_ascend_C.so"].mode == 0o755
    assert [member.name for member in compiled_members(wheel)] == sorted(part.name for part in PARTS)
    lines = members[f"{INFO}/WHEEL"].data.decode().splitlines()
    assert lines == ["Wheel-Version: 1.0", "Generator: x", "Root-Is-Purelib: false", f"Tag: {TAG}"]
    rows = {row.path: row for row in parse_record(members[f"{INFO}/RECORD"].data.decode(), "RECORD")}
    assert set(rows) == set(members)
    for name, member in members.items():
        if name != f"{INFO}/RECORD":
            assert (rows[name].sha256, rows[name].size) == (digest_of(member.data), len(member.data))


def test_what_is_no_wheel_is_told(python: Path, tmp_path: Path) -> None:
    assert put_together(python, PARTS, TAG, tmp_path).is_file()
    with zipfile.ZipFile(python, "w") as archive:
        archive.writestr("vllm_ascend/__init__.py", "")
    with pytest.raises(UnusableError, match="no dist-info"):
        put_together(python, PARTS, TAG, tmp_path)


def test_parts_are_kept_with_their_modes_and_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    write_parts(PARTS, folder)
    assert read_parts(folder) == sorted(PARTS, key=lambda part: part.name)
    with pytest.raises(UnusableError, match="leads out of it"):
        write_parts([Member("vllm_ascend/../../out.so", b"")], folder)
    assert not (tmp_path / "out.so").exists()


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("a.cpp:1:2: error: no x\nb.cpp:2:2: error: y\n", "a.cpp:1:2: error: no x"),
        ("  /w/a.h:1:10: fatal error: acl.h: No such file", "/w/a.h:1:10: fatal error: acl.h: No such file"),
        ("CMake Error at C:27 (message):\n  wants it\n\nmore", "CMake Error at C:27 (message): wants it"),
        ("a.o: undefined reference to `f'\n", "a.o: undefined reference to `f'"),
        ("[2026-01-01] Error: bisheng not found\nerror: y", "[2026-01-01] Error: bisheng not found"),
        ("Traceback:\nRuntimeError: no chip\n", "RuntimeError: no chip"),
        ("  error: subprocess-exited-with-error\nERROR: Failed to build x\n", "Failed to build x"),
        ("-- Looking for -Werror: no\nlast\n", "last"),
    ],
)  # fmt: skip
def test_the_first_error_of_a_build_is_the_compiler_s(output: str, says: str) -> None:
    assert build_error(output) == says
