"""Which CANN a process has loaded."""

import platform
from pathlib import Path

import pytest
from support.cann import cann_libraries, inner_version, process_map

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


def test_the_build_is_read_from_the_install_info(tmp_path: Path) -> None:
    folder = tmp_path / f"{platform.machine()}-linux"
    variables = {"ASCEND_TOOLKIT_HOME": str(tmp_path)}
    with pytest.raises(RuntimeError, match="ASCEND_TOOLKIT_HOME is not set"):
        inner_version({})
    with pytest.raises(RuntimeError, match=r"ascend_toolkit_install.info is missing"):
        inner_version(variables)
    folder.mkdir()
    info = folder / "ascend_toolkit_install.info"
    info.write_text("package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=V100R001C25SPC001B222\n")
    assert inner_version(variables) == "V100R001C25SPC001B222"
    info.write_text("version=9.0.0\n")
    with pytest.raises(RuntimeError, match="no innerversion"):
        inner_version(variables)
