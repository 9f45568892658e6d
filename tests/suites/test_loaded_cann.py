"""Which CANN a process has loaded."""

import platform
from pathlib import Path

import pytest
from support.cann import (
    INSTALL_INFO,
    cann_libraries,
    inner_version,
    install_info,
    library_lines,
    process_map,
    stray_from_home,
)

MAPS = """\
55f0c0000000-55f0c0001000 r-xp 00000000 08:01 131 /usr/bin/python3.11
7f0000000000-7f0000001000 r--p 00000000 08:01 132 /opt/my Ascend/cann/lib64/libascendcl.so
7f0000001000-7f0000002000 r-xp 00001000 08:01 132 /opt/my Ascend/cann/lib64/libascendcl.so
7f0000002000-7f0000003000 r-xp 00000000 08:01 133 /opt/driver/libascend_hal.so.1
7f0000003000-7f0000004000 rw-p 00000000 00:00 0
7f0000004000-7f0000005000 r-xp 00000000 08:01 134 /venv/torch_npu/lib/libtorch_npu.so
7f0000005000-7f0000006000 rw-p 00000000 00:00 0 [heap]
7f0000006000-7f0000007000 r-xp 00000000 08:01 135 /tmp/libascendcl_notes.txt
"""


def test_the_libraries_are_found_once_each_whatever_their_folder_is_called() -> None:
    expected = ["/opt/driver/libascend_hal.so.1", "/opt/my Ascend/cann/lib64/libascendcl.so"]
    assert cann_libraries(MAPS) == expected
    assert cann_libraries("") == []


def test_a_process_has_a_line_for_itself_and_one_for_each_library() -> None:
    assert process_map("worker 0", ["/a/libascendcl.so", "/b/libopapi.so"]).splitlines() == [
        "process: worker 0",
        "process-map: /a/libascendcl.so",
        "process-map: /b/libopapi.so",
    ]


def test_what_only_the_emulated_cann_has_is_in_the_map_too() -> None:
    stubs = "7f0000007000-7f0000008000 r-xp 00000000 08:01 136 /opt/cann/lib64/libemucann_stubs.so"
    assert "libemucann" not in "".join(cann_libraries(MAPS))
    assert "/opt/cann/lib64/libemucann_stubs.so" in cann_libraries(f"{MAPS}{stubs}\n")


def test_the_loaded_libascendcl_is_named_with_its_hash(tmp_path: Path) -> None:
    library = tmp_path / "libascendcl.so"
    library.write_bytes(b"one")
    sha256 = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    assert library_lines(["/a/libopapi.so", str(library)]) == [f"cann-library: sha256 {sha256} {library}"]
    assert library_lines(["/a/libopapi.so"]) == []
    library.unlink()
    with pytest.raises(RuntimeError, match=r"libascendcl.so: No such file.*: expected the loaded library"):
        library_lines([str(library)])


@pytest.fixture
def cann(tmp_path: Path) -> Path:
    """A CANN with an install info and a library, and another one that the variables could mean."""
    for name, build in (("cann-9.0.0", "B250"), ("cann-8.5.1", "B220")):
        arch = tmp_path / name / f"{platform.machine()}-linux"
        (arch / "lib64").mkdir(parents=True)
        (arch / "lib64/libascendcl.so").touch()
        (tmp_path / name / "lib64").symlink_to(arch / "lib64")
        (arch / INSTALL_INFO).write_text(f"version=9.0.0\ninnerversion=V100R001C10SPC001{build}\n")
    (tmp_path / "cann").symlink_to("cann-9.0.0")
    return tmp_path / "cann"


def test_the_build_is_that_of_the_loaded_library_not_of_the_variables(cann: Path) -> None:
    for library in (cann / "lib64/libascendcl.so", cann / f"{platform.machine()}-linux/lib64/libascendcl.so"):
        assert inner_version(install_info(str(library))) == "V100R001C10SPC001B250"
    other = cann.parent / "cann-8.5.1/lib64/libascendcl.so"
    assert inner_version(install_info(str(other))) == "V100R001C10SPC001B220"
    with pytest.raises(RuntimeError, match=r"/gone/libascendcl.so: no ascend_toolkit_install.info above it"):
        install_info("/gone/libascendcl.so")


@pytest.mark.parametrize("text", ["version=9.0.0\n", "innerversion=\n", "innerversion=B1\ninnerversion=B2\n"])
def test_an_install_info_has_one_innerversion(tmp_path: Path, text: str) -> None:
    info = tmp_path / INSTALL_INFO
    info.write_text("path=/x\ninnerversion=V100R001C25SPC001B222\nversion=8.5.0\n")
    assert inner_version(info) == "V100R001C25SPC001B222"
    info.write_text(text)
    with pytest.raises(RuntimeError, match="expected one line innerversion"):
        inner_version(info)


def test_a_library_of_another_cann_than_the_variables_mean_is_named(cann: Path) -> None:
    libraries = [str((cann / "lib64/libascendcl.so").resolve())]
    for home in (cann, cann.resolve(), cann / f"{platform.machine()}-linux"):
        assert stray_from_home(libraries, {"ASCEND_HOME_PATH": str(home)}) is None
    other = stray_from_home(libraries, {"ASCEND_HOME_PATH": str(cann.parent / "cann-8.5.1")})
    assert other == f"{libraries[0]} is loaded, but ASCEND_HOME_PATH is {cann.parent}/cann-8.5.1"
    assert "ASCEND_HOME_PATH is not set" in (stray_from_home(libraries, {}) or "")
    with pytest.raises(RuntimeError, match=r"libascendcl\.so is not loaded"):
        stray_from_home(["/x/libhccl.so"], {"ASCEND_HOME_PATH": str(cann)})


def test_before_8_5_the_variable_means_a_folder_of_links(cann: Path) -> None:
    latest = cann.parent / "ascend-toolkit/latest"
    latest.mkdir(parents=True)
    arch = f"{platform.machine()}-linux"
    (latest / arch).symlink_to(cann.parent / "cann-9.0.0" / arch)
    libraries = [str((latest / arch / "lib64/libascendcl.so").resolve())]
    assert stray_from_home(libraries, {"ASCEND_HOME_PATH": str(latest)}) is None
    (latest / arch).unlink()
    (latest / arch).symlink_to(cann.parent / "cann-8.5.1" / arch)
    assert stray_from_home(libraries, {"ASCEND_HOME_PATH": str(latest)}) is not None
