"""The edit of triton-ascend finds what it removes and touches nothing that it does not know."""

import csv
import hashlib
import py_compile
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from npu_assay.environment import triton_edit
from npu_assay.environment.environment import Environment
from npu_assay.environment.triton_edit import Edit
from npu_assay.errors import UnusableError

DRIVER = '''\
class Utils:
    def kept(self):
        return 1

    @cached
    @other(
        1,
    )
    def set_device_limit(self, device):
        """One line.

        More.
        """
        return device


class Launcher:
    pass
'''
DRIVER_AFTER = """\
class Utils:
    def kept(self):
        return 1


class Launcher:
    pass
"""

CPP = """\
static int kept() { return 1; } // kept {

static const std::map<std::string, int> LimitTypeMap = {
    {"}", 1}, // }
    {"{", '{'} /* } */
};
 \t
static PyObject *setDeviceLimit(PyObject *self,
                                PyObject *args) {
  if (LimitTypeMap.count("\\"}")) { return nullptr; }
  return Py_None;
}

static PyMethodDef methods[] = {
    {"kept", kept, METH_VARARGS, ""},
    {"set_device_limit", setDeviceLimit, METH_VARARGS, "Set {"},
    {nullptr, nullptr, 0, nullptr}};
"""
CPP_AFTER = """\
static int kept() { return 1; } // kept {

static PyMethodDef methods[] = {
    {"kept", kept, METH_VARARGS, ""},
    {nullptr, nullptr, 0, nullptr}};
"""


def remove_cpp(source: str) -> str:
    source = triton_edit.without_cpp_variable(source, "LimitTypeMap")
    source = triton_edit.without_cpp_function(source, "setDeviceLimit")
    return triton_edit.without_method_entry(source, "set_device_limit")


def test_a_python_function_goes_with_its_decorators() -> None:
    assert triton_edit.without_python_function(DRIVER, "set_device_limit") == DRIVER_AFTER


def test_a_cpp_variable_function_and_method_entry_go() -> None:
    assert remove_cpp(CPP) == CPP_AFTER


@pytest.mark.parametrize(
    ("remove", "source", "says"),
    [
        (lambda s: triton_edit.without_python_function(s, "f"), "def g(): pass\n", "one function f, found 0"),
        (lambda s: triton_edit.without_python_function(s, "f"), "def f(): 1\ndef f(): 2\n", "found 2"),
        (lambda s: triton_edit.without_cpp_variable(s, "v"), "int v = {1", "nothing closes the bracket"),
        (lambda s: triton_edit.without_cpp_variable(s, "v"), "int v = {(1};", "unbalanced '}'"),
        (lambda s: triton_edit.without_cpp_variable(s, "v"), "int v = {1}\n", "no ';'"),
        (lambda s: triton_edit.without_cpp_variable(s, "v"), "int v = {1}; int w;\n", "more than expected"),
        (lambda s: triton_edit.without_cpp_function(s, "f"), "int f();\n", "declared, not defined"),
        (lambda s: triton_edit.without_cpp_function(s, "f"), "int f() {}\nint x = f();\n", "found 2"),
        (lambda s: triton_edit.without_method_entry(s, "f"), '{"g", f},\n', "method entry f, found 0"),
    ],
)
def test_code_of_another_shape_is_not_guessed_at(
    remove: Callable[[str], str], source: str, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        remove(source)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


EDITS = (
    Edit(
        path="triton/driver.py",
        before=sha256(DRIVER),
        after=sha256(DRIVER_AFTER),
        remove=lambda s: triton_edit.without_python_function(s, "set_device_limit"),
    ),
    Edit(path="triton/utils.cpp", before=sha256(CPP), after=sha256(CPP_AFTER), remove=remove_cpp),
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site-packages with a triton-ascend like the real one."""
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "driver.py").write_text(DRIVER)
    (tmp_path / "triton" / "utils.cpp").write_text(CPP)
    info = tmp_path / "triton_ascend-3.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: triton-ascend\nVersion: 3.2.0\n")
    (info / "RECORD").write_text(
        'triton/driver.py,sha256=old,1\n"triton/a,b.py",sha256=kept,2\ntriton/utils.cpp,sha256=old,1\n'
        "triton_ascend-3.2.0.dist-info/RECORD,,\n"
    )
    return tmp_path


def test_the_edit_is_made_once_and_recorded(site: Path) -> None:
    assert triton_edit.apply(site, EDITS) is True
    assert (site / "triton/driver.py").read_text() == DRIVER_AFTER
    assert (site / "triton/utils.cpp").read_text() == CPP_AFTER
    record = site / "triton_ascend-3.2.0.dist-info" / "RECORD"
    rows = {row[0]: row[1:] for row in csv.reader(record.read_text().splitlines())}
    assert rows["triton/driver.py"][1] == str(len(DRIVER_AFTER))
    assert rows["triton/driver.py"][0].startswith("sha256=")
    assert not rows["triton/driver.py"][0].endswith("=")
    assert rows["triton/a,b.py"] == ["sha256=kept", "2"]
    assert rows["triton_ascend-3.2.0.dist-info/RECORD"] == ["", ""]

    written = record.stat().st_mtime_ns
    assert triton_edit.apply(site, EDITS) is False
    assert record.stat().st_mtime_ns == written, "the second time nothing is written"


def test_compiled_code_does_not_keep_what_the_source_lost(site: Path) -> None:
    driver = site / "triton" / "driver.py"
    py_compile.compile(str(driver), doraise=True)
    assert triton_edit.left_overs(site / "triton") != []
    triton_edit.apply(site, EDITS)
    assert Path(cache_from_source(str(driver))).exists()
    assert triton_edit.left_overs(site / "triton") == []


def test_an_edit_that_was_interrupted_is_finished(site: Path) -> None:
    (site / "triton/driver.py").write_text(DRIVER_AFTER)
    assert triton_edit.apply(site, EDITS) is True
    assert (site / "triton/utils.cpp").read_text() == CPP_AFTER
    assert "sha256=old" not in (site / "triton_ascend-3.2.0.dist-info" / "RECORD").read_text()


def test_unknown_content_is_named_and_nothing_is_touched(site: Path) -> None:
    (site / "triton/utils.cpp").write_text(CPP + "// changed\n")
    with pytest.raises(UnusableError) as raised:
        triton_edit.apply(site, EDITS)
    for part in (
        str(site / "triton/utils.cpp"),
        sha256(CPP + "// changed\n"),
        sha256(CPP),
        sha256(CPP_AFTER),
    ):
        assert part in str(raised.value)
    assert (site / "triton/driver.py").read_text() == DRIVER


def test_a_result_that_is_not_the_known_one_is_not_written(site: Path) -> None:
    wrong = Edit(path=EDITS[0].path, before=EDITS[0].before, after="0" * 64, remove=EDITS[0].remove)
    with pytest.raises(UnusableError, match=f"the edit gives sha256 {EDITS[0].after}, expected 0000"):
        triton_edit.apply(site, (wrong,))
    assert (site / "triton/driver.py").read_text() == DRIVER


def test_what_is_left_elsewhere_in_the_tree_is_told(site: Path) -> None:
    (site / "triton" / "other.so").write_bytes(b"\0\1setDeviceLimit\0")
    with pytest.raises(UnusableError, match=r"leaves .* in other\.so"):
        triton_edit.apply(site, EDITS)


@pytest.mark.parametrize("gone", ["triton/driver.py", "triton_ascend-3.2.0.dist-info/RECORD"])
def test_a_triton_ascend_that_is_not_whole_is_told(site: Path, gone: str) -> None:
    (site / gone).unlink()
    with pytest.raises(UnusableError, match="triton-ascend"):
        triton_edit.apply(site, EDITS)


@pytest.mark.environment
def test_the_installed_triton_ascend_is_edited(environment: Environment) -> None:
    site = environment.site_packages
    for edit in triton_edit.EDITS:
        assert hashlib.sha256((site / edit.path).read_bytes()).hexdigest() == edit.after
    record = (site / "triton_ascend-3.2.0.dist-info" / "RECORD").read_text()
    rows = {row[0]: row for row in csv.reader(record.splitlines())}
    for edit in triton_edit.EDITS:
        assert rows[edit.path][2] == str((site / edit.path).stat().st_size)
    assert triton_edit.left_overs(site / "triton") == []
