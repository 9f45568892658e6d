"""The edits of vllm-ascend's sources find their places, change them once, and guess at nothing."""

import hashlib
from pathlib import Path

import pytest

from npu_assay.environment.ascend_build.edits import (
    Surroundings,
    apply_edits,
    with_pkg_inc,
    with_torch_version,
)
from npu_assay.errors import UnusableError

TOP = """\
# if(NOT ${TORCH_VERSION} VERSION_EQUAL "1.0")  as it was
run_python(TORCH_VERSION "import torch; print(torch.__version__)" "(no torch")
if(NOT ${TORCH_VERSION} VERSION_EQUAL "2.9.0")
  message(FATAL_ERROR "another torch")
endif()
"""
INTERFACE = """\
add_library(intf_pub INTERFACE) # (public
target_include_directories(intf_pub
    INTERFACE
        ${ASCEND_CANN_PACKAGE_PATH}/include
        "${ASCEND_CANN_PACKAGE_PATH}/include/(external)" # not )
)
target_link_directories(intf_pub INTERFACE ${ASCEND_CANN_PACKAGE_PATH}/lib64)
"""
UTILS = """\
add_library(ops_utils_tiling_headers INTERFACE)
target_include_directories(ops_utils_tiling_headers INTERFACE
        $<$<BOOL:${OPEN}>:$<BUILD_INTERFACE:${ASCEND_CANN_PACKAGE_PATH}/include>>
        $<INSTALL_INTERFACE:include>
)
add_library(other INTERFACE)
target_include_directories(other INTERFACE
        ${ASCEND_CANN_PACKAGE_PATH}/include
)
"""
FOLDER = "$<BUILD_INTERFACE:${ASCEND_CANN_PACKAGE_PATH}/${CMAKE_SYSTEM_PROCESSOR}-linux/pkg_inc>"
FILES = {
    "CMakeLists.txt": TOP,
    "csrc/cmake/intf_pub.cmake": INTERFACE,
    "csrc/utils/CMakeLists.txt": UTILS,
}
TORCH_210 = Surroundings(torch="2.10.0+cpu", has_pkg_inc=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of a tree that the edits are about."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_what_is_missing_is_put_in_once_and_told(tree: Path) -> None:
    edited = apply_edits(tree, TORCH_210)
    assert [(one.path, one.before) for one in edited] == [
        (name, sha256(text.encode())) for name, text in FILES.items()
    ]
    assert [one.after for one in edited] == [sha256((tree / one.path).read_bytes()) for one in edited]
    assert "2.10.0+cpu" in edited[0].why
    assert "pkg_inc" in edited[1].why

    assert (tree / "CMakeLists.txt").read_text() == TOP.replace('"2.9.0"', '"2.10.0"')
    external = '        "${ASCEND_CANN_PACKAGE_PATH}/include/(external)" # not )\n'
    assert (tree / "csrc/cmake/intf_pub.cmake").read_text() == INTERFACE.replace(
        external, f"{external}        {FOLDER}\n"
    )
    last = "        $<$<BOOL:${OPEN}>:$<BUILD_INTERFACE:${ASCEND_CANN_PACKAGE_PATH}/include>>\n"
    assert (tree / "csrc/utils/CMakeLists.txt").read_text() == UTILS.replace(
        last, f"{last}        {FOLDER}\n"
    )
    assert apply_edits(tree, TORCH_210) == ()


@pytest.mark.parametrize(
    ("here", "changed"),
    [
        (Surroundings("2.9.0", has_pkg_inc=False), []),
        (Surroundings("2.9.0+cpu", has_pkg_inc=False), []),
        (Surroundings("2.9.1", has_pkg_inc=False), ["CMakeLists.txt"]),
        (Surroundings("2.9.0", has_pkg_inc=True), [*FILES][1:]),
    ],
)
def test_only_what_does_not_fit_is_changed(tree: Path, here: Surroundings, changed: list[str]) -> None:
    assert [one.path for one in apply_edits(tree, here)] == changed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("project(x)\n", id="no check"),
        pytest.param("# if(NOT ${TORCH_VERSION} VERSION_EQUAL 2.9.0)\n", id="a comment"),
        pytest.param("if(NOT ${TORCH_VERSION} VERSION_EQUAL 2.10)\nendif()\n", id="the same version"),
    ],
)
def test_a_tree_that_takes_this_torch_is_left_alone(text: str) -> None:
    assert with_torch_version(TOP, "2.10.0") != TOP
    assert with_torch_version(text, "2.10.0") == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TOP + TOP, 2),
        ('if(NOT TORCH_VERSION STREQUAL "2.9.0")\n', 0),
        (TOP + "if(TORCH_VERSION VERSION_LESS 2.5)\n", 1),
    ],
)
def test_another_check_of_torch_is_not_guessed_at(text: str, found: int) -> None:
    assert with_torch_version(TOP, "2.10.0") == TOP.replace("2.9.0", "2.10.0")
    with pytest.raises(ValueError, match=rf"looked for one if\(NOT .* found {found}"):
        with_torch_version(text, "2.10.0")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("include(other.cmake)\n", id="no such library"),
        pytest.param(INTERFACE.replace("/include\n", "/x86_64-linux/pkg_inc\n"), id="it has it"),
        pytest.param(INTERFACE.replace("/include\n", "/${CANN_PKG_INC}\n"), id="it has it by a variable"),
    ],
)
def test_a_tree_that_needs_no_folder_is_left_alone(text: str) -> None:
    assert with_pkg_inc(INTERFACE, "intf_pub") != INTERFACE
    assert with_pkg_inc(text, "intf_pub") == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "add_library(intf_pub INTERFACE)\n",
            "looked for one target_include_directories.intf_pub .* found 0",
        ),
        (INTERFACE + INTERFACE, "found 2"),
        (INTERFACE.partition("\n)")[0], "the file ends without"),
        (
            INTERFACE.replace("${ASCEND_CANN_PACKAGE_PATH}/include", "/opt/include"),
            "looked for ..ASCEND_CANN",
        ),
        (
            "add_library(intf_pub INTERFACE)\n"
            "target_include_directories(intf_pub INTERFACE ${ASCEND_CANN_PACKAGE_PATH}/include)\n",
            "a line each",
        ),
    ],
)
def test_a_library_of_another_form_is_not_guessed_at(text: str, says: str) -> None:
    assert FOLDER in with_pkg_inc(INTERFACE, "intf_pub")
    with pytest.raises(ValueError, match=says):
        with_pkg_inc(text, "intf_pub")


def test_lines_end_as_they_did(tree: Path) -> None:
    path = tree / "csrc/cmake/intf_pub.cmake"
    apply_edits(tree, TORCH_210)
    unix = path.read_bytes()
    path.write_bytes(INTERFACE.replace("\n", "\r\n").encode())
    apply_edits(tree, TORCH_210)
    assert path.read_bytes() == unix.replace(b"\n", b"\r\n")


def test_a_place_that_is_not_found_is_told_and_nothing_is_written(tree: Path) -> None:
    (tree / "csrc/utils/CMakeLists.txt").write_text("add_library(ops_utils_tiling_headers INTERFACE)\n")
    with pytest.raises(UnusableError) as raised:
        apply_edits(tree, TORCH_210)
    for part in (str(tree / "csrc/utils/CMakeLists.txt"), "looked for", "pkg_inc", "--vllm-ascend"):
        assert part in str(raised.value)
    assert (tree / "CMakeLists.txt").read_text() == TOP


def test_files_that_a_tree_has_not_are_no_error(tree: Path) -> None:
    assert len(apply_edits(tree, TORCH_210)) == 3
    (tree / "csrc/utils/CMakeLists.txt").unlink()
    assert apply_edits(tree, TORCH_210) == ()
