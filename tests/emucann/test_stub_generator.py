"""The stub generator, on small libraries compiled here: what it finds, what it writes, what it refuses."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "emucann" / "stubs"
sys.path.insert(0, str(SOURCES))

import stub_generator  # noqa: E402 (a build tool of src/emucann, not a package)

TOOLS = stub_generator.Binutils("nm", "readelf")


def library(folder: Path, soname: str, code: str, *flags: str) -> Path:
    path = folder / soname
    command = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(path), "-x", "c", "-"]
    subprocess.run([*command, "-x", "none", *flags], input=code, text=True, check=True)
    return path


@pytest.fixture
def torch(tmp_path: Path) -> Path:
    folder = tmp_path / "torch"
    (folder / "lib").mkdir(parents=True)
    library(folder / "lib", "libtorch_cpu.so", "void torch_function(void) {}")
    return folder


@pytest.fixture
def wheel(tmp_path: Path, torch: Path) -> list[Path]:
    """Two libraries of a wheel; the first needs a room, two libraries of CANN, torch, libc and the second."""
    cann = [
        library(tmp_path, name, "int unused;")
        for name in ("libascendcl.so", "libge_runner.so", "libgraph.so")
    ]
    sibling = library(tmp_path, "libsibling.so", "void sibling_function(void) {}")
    code = """
        #include <stdio.h>
        void torch_function(void); void sibling_function(void);
        int aclrtProvided(void); int aclopMissing(void); void _ZN2ge5GraphC1EPKc(void);
        __attribute__((weak)) int aclWeak(void);
        void use(void) {
          printf("x"); torch_function(); sibling_function();
          aclrtProvided(); aclopMissing(); _ZN2ge5GraphC1EPKc();
          if (aclWeak) aclWeak();
        }
    """
    needs = [*map(str, cann), str(sibling), str(torch / "lib" / "libtorch_cpu.so")]
    user = library(tmp_path, "libtorch_npu.so", code, "-Wl,--no-as-needed", *needs)
    return [user, sibling]


def test_finds_the_libraries_that_only_cann_provides(wheel: list[Path], torch: Path) -> None:
    assert stub_generator.cann_libraries(TOOLS, wheel, torch, ["libascendcl.so"]) == [
        "libge_runner.so",
        "libgraph.so",
    ]
    assert "libascendcl.so" in stub_generator.cann_libraries(TOOLS, wheel, torch, [])


def test_finds_the_hard_symbols_that_nobody_defines(tmp_path: Path, wheel: list[Path], torch: Path) -> None:
    room = library(tmp_path, "librooms.so", "int aclrtProvided(void) { return 0; }")
    providers = [*stub_generator.torch_files(torch), *stub_generator.c_runtime_files("c++"), room]
    assert stub_generator.missing_symbols(TOOLS, wheel, providers) == ["_ZN2ge5GraphC1EPKc", "aclopMissing"]
    without_room = [provider for provider in providers if provider != room]
    assert "aclrtProvided" in stub_generator.missing_symbols(TOOLS, wheel, without_room)


def test_the_interpreter_defines_what_extension_modules_need() -> None:
    defined = {symbol for file in stub_generator.python_files() for symbol in TOOLS.defined(file)}
    assert {"PyObject_Call", "_Py_NoneStruct"} <= defined


def test_a_file_that_is_no_library_is_an_error_that_names_it(tmp_path: Path) -> None:
    text = tmp_path / "notes.so"
    text.write_text("no ELF")
    with pytest.raises(stub_generator.StubError, match=r"notes\.so"):
        TOOLS.undefined(text)


HEADERS = """
/* aclError aclInComment(void); */
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr *attr, const char *name, int64_t value);
ACL_FUNC_VISIBILITY aclopAttr *aclopCreateAttr();
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr *attr);
extern HcclResult HcclThing(void** handle);
size_t aclSize();
"""


def test_return_types_come_from_the_headers() -> None:
    types = stub_generator.return_types(HEADERS)
    assert types["aclopSetAttrInt"] == "aclError"
    assert types["aclopCreateAttr"] == "aclopAttr*"
    assert types["aclopDestroyAttr"] == "void"
    assert types["HcclThing"] == "HcclResult"
    assert "aclInComment" not in types


@pytest.mark.parametrize(
    ("symbol", "action"),
    [
        ("aclopSetAttrInt", "fail"),  # a status
        ("HcclThing", "fail"),
        ("rtNotInAnyHeader", "fail"),
        ("aclopCreateAttr", "null"),  # a pointer: an error code in it would be dereferenced
        ("aclopDestroyAttr", "null"),
        ("aclSize", "null"),
        ("_ZN2ge5GraphC1EPKc", "refuse"),  # an object
        ("rtRegister", "benign"),
        ("rtLaunch", "refuse"),  # its callers drop the status
    ],
)
def test_what_a_stub_does(symbol: str, action: str) -> None:
    types = stub_generator.return_types(HEADERS)
    assert stub_generator.stubs_for([symbol], {"rtRegister"}, {"rtLaunch"}, types) == [
        stub_generator.Stub(symbol, action)
    ]


@pytest.mark.parametrize("symbol", ["_ZTV9aclTensor", "_ZTI9aclTensor", "_ZTSN2ge5GraphE"])
def test_data_is_not_stubbed(symbol: str) -> None:
    assert stub_generator.stubs_for(["_ZN9aclTensorC1Ev"], (), (), {})
    with pytest.raises(stub_generator.StubError, match=symbol):
        stub_generator.stubs_for([symbol], (), (), {})


def test_every_exception_has_its_reason() -> None:
    good = "# heading\n\nrtRegister  # called when the library is loaded\n"
    assert stub_generator.read_reasons(good, "benign.txt") == {
        "rtRegister": "called when the library is loaded"
    }
    for bad in ("rtRegister\n", "rtRegister #\n", "rtRegister rtOther  # why\n"):
        with pytest.raises(stub_generator.StubError, match=r"benign\.txt:1: .*expected `symbol  # reason`"):
            stub_generator.read_reasons(bad, "benign.txt")


@pytest.mark.parametrize("name", ["benign.txt", "throwing.txt"])
def test_the_exceptions_that_are_kept_parse(name: str) -> None:
    assert stub_generator.read_reasons((SOURCES / name).read_text(), name)


STAND_IN = """
    #include <string>
    #include "emucann/runtime.h"
    static std::string message;
    void emucann::set_error_message(std::string text) { message = text; }
    extern "C" const char* last_message() { return message.c_str(); }
    extern "C" const char* thrown(const char* (*call)()) {
      static std::string text;
      text = "nothing was thrown";
      try { call(); } catch (const std::exception& problem) { text = problem.what(); }
      return text.c_str();
    }
"""
ACL_HEADER = """
    #pragma once
    using aclError = int;
    using aclrtStream = void*;
    constexpr int ACL_ERROR_API_NOT_SUPPORT = 200001;
"""


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """A library of generated stubs over stub.cpp, with a core and an acl.h of this test's own."""
    folder = tmp_path_factory.mktemp("stubs")
    (folder / "acl").mkdir()
    (folder / "acl" / "acl.h").write_text(ACL_HEADER)
    (folder / "core.cpp").write_text(STAND_IN)
    symbols = ["aclopSetAttrInt", "aclopCreateAttr", "rtRegister", "_ZN2ge5GraphC1EPKc"]
    made = stub_generator.stubs_for(symbols, {"rtRegister"}, (), stub_generator.return_types(HEADERS))
    (folder / "stubs.cpp").write_text(stub_generator.source_of(made))
    library_path = folder / "libstubs.so"
    includes = [f"-I{folder}", f"-I{SOURCES}", f"-I{SOURCES.parent / 'include'}"]
    sources = [str(folder / "stubs.cpp"), str(folder / "core.cpp"), str(SOURCES / "stub.cpp")]
    command = ["c++", "-std=c++17", "-shared", "-fPIC", *includes, "-o", str(library_path), *sources]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library_path))
    for function in (loaded.last_message, loaded.thrown):
        function.restype = ctypes.c_char_p
    loaded.thrown.argtypes = [ctypes.c_void_p]
    loaded.aclopCreateAttr.restype = ctypes.c_void_p
    return loaded


def test_a_stub_refuses_by_name(stubs: ctypes.CDLL) -> None:
    assert stubs.rtRegister() == 0
    assert stubs.last_message() == b"", "a benign stub has nothing to say"
    assert stubs.aclopSetAttrInt(None, b"name", ctypes.c_int64(1)) == 200001
    assert stubs.last_message() == b"emucann: aclopSetAttrInt is not implemented"
    assert stubs.aclopCreateAttr() is None
    assert stubs.last_message() == b"emucann: aclopCreateAttr is not implemented"


def test_a_cpp_stub_throws_its_readable_name(stubs: ctypes.CDLL) -> None:
    address = ctypes.cast(stubs["_ZN2ge5GraphC1EPKc"], ctypes.c_void_p)
    assert stubs.thrown(address) == b"emucann: ge::Graph::Graph(char const*) is not implemented"


def test_the_command_line(
    tmp_path: Path, wheel: list[Path], torch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "acl.h").write_text(HEADERS)
    reasons = tmp_path / "reasons.txt"
    reasons.write_text("aclNothing  # for this test\n")
    output = tmp_path / "stubs.cpp"
    common = ["--torch", str(torch)]
    data = [f"--benign={reasons}", f"--throwing={reasons}", f"--headers={headers}", f"--output={output}"]
    files = [str(file) for file in wheel]
    assert stub_generator.main(["needed", *common, "--room=libascendcl.so", *files]) == 0
    assert capsys.readouterr().out.split() == ["libge_runner.so", "libgraph.so"]
    assert stub_generator.main(["sources", *common, *data, *files]) == 0
    assert 'aclopMissing() { return fail("aclopMissing"); }' in output.read_text()
    reasons.write_text("aclNothing\n")
    assert stub_generator.main(["sources", *common, *data, *files]) == 1
    assert "expected `symbol  # reason`" in capsys.readouterr().err
