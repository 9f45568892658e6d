"""Finds what the installed wheels want from CANN that no room of the emulator provides; writes stubs for it.

Two commands, both used by CMakeLists.txt:

``needed``   prints the SONAMEs in the wheels' NEEDED entries that neither the wheels, torch, the C and C++
             runtime nor a room provide: CANN's other libraries.
``sources``  writes a C++ file with one function for each symbol that the wheels leave undefined and nobody
             defines.

ELF files are read through ``nm`` and ``readelf`` of binutils. Only hard symbols count: weak ones may stay
undefined, and what is looked up with dlsym at run time is better absent, because torch-npu has a way round it
(its csrc/**/*Interface.cpp).
"""

import argparse
import re
import subprocess
import sys
import sysconfig
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# The libraries that every manylinux wheel may take from the system (PEP 600). Named, not searched for: a
# system library that happens to be called libgraph.so must not pass for CANN's.
C_RUNTIME = (
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libgomp.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
)

# A C++ symbol that names data (vtable, VTT, typeinfo, its name, guard): a function can't stand in for it.
DATA_SYMBOL = re.compile(r"_Z(TV|TT|TI|TS|GV)")

# What a failing function of CANN's C interface returns. All else (pointers, sizes, enums, void) gets 0.
STATUS_TYPES = {"aclError", "aclnnStatus", "graphStatus", "HcclResult", "int", "int32_t", "rtError_t"}


class StubError(Exception):
    """One line: what can't be stubbed or read, and what to do."""


@dataclass(frozen=True)
class Binutils:
    nm: str
    readelf: str

    def undefined(self, file: Path) -> set[str]:
        """Hard undefined symbols without a version; a version says which system library has the symbol."""
        rows = (line.split() for line in _run(self.nm, "-D", "--undefined-only", str(file)).splitlines())
        return {row[-1] for row in rows if row and row[-2] == "U" and "@" not in row[-1]}

    def defined(self, file: Path) -> set[str]:
        rows = (line.split() for line in _run(self.nm, "-D", "--defined-only", str(file)).splitlines())
        return {row[-1].partition("@")[0] for row in rows if row}

    def needed(self, file: Path) -> set[str]:
        return set(re.findall(r"\(NEEDED\).*\[(.+)\]", _run(self.readelf, "-d", str(file))))


@dataclass(frozen=True)
class Stub:
    """One symbol and what its function does when called."""

    symbol: str
    action: str  # a function of stub.h: benign, fail, null or refuse

    def code(self) -> str:
        return f'EMUCANN_STUB {self.symbol}() {{ return {self.action}("{self.symbol}"); }}\n'


def _run(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise StubError(f"{' '.join(command)}: {result.stderr.strip() or result.returncode}")
    return result.stdout


def c_runtime_files(compiler: str) -> list[Path]:
    """Where this compiler finds the C and C++ runtime, without what the architecture does not have."""
    paths = (Path(_run(compiler, f"-print-file-name={name}").strip()) for name in C_RUNTIME)
    return [path for path in paths if path.is_absolute()]


def python_files() -> list[Path]:
    """The interpreter that runs this and its shared library, if any: they define Py* for extensions."""
    library = Path(sysconfig.get_config_var("LIBDIR") or "") / (sysconfig.get_config_var("LDLIBRARY") or "")
    shared = [library] if library.is_file() and ".so" in library.name else []
    return [Path(sys.executable).resolve(), *shared]


def torch_files(torch: Path) -> list[Path]:
    return sorted(path for path in (torch / "lib").glob("*.so*") if path.is_file())


def cann_libraries(tools: Binutils, wheels: Iterable[Path], torch: Path, rooms: Iterable[str]) -> list[str]:
    """SONAMEs that the wheels need and nobody but CANN could provide, without those of the rooms."""
    wheels = list(wheels)
    wanted = {name for file in wheels for name in tools.needed(file)}
    there = {file.name for file in wheels} | {file.name for file in torch_files(torch)}
    return sorted(wanted - there - set(C_RUNTIME) - set(rooms))


def missing_symbols(tools: Binutils, wheels: Iterable[Path], providers: Iterable[Path]) -> list[str]:
    """Hard undefined symbols of the wheels that neither a wheel nor a provider defines."""
    wheels = list(wheels)
    wanted = {symbol for file in wheels for symbol in tools.undefined(file)}
    there = {symbol for file in [*wheels, *providers] for symbol in tools.defined(file)}
    return sorted(wanted - there)


def read_reasons(text: str, source: str) -> dict[str, str]:
    """Parses ``symbol  # reason`` lines into {symbol: reason}; a symbol without a reason is an error."""
    reasons = {}
    for number, line in enumerate(text.splitlines(), 1):
        entry, _, reason = (part.strip() for part in line.partition("#"))
        if not entry:
            continue
        if not reason or len(entry.split()) != 1:
            raise StubError(f"{source}:{number}: {line.strip()!r}: expected `symbol  # reason`")
        reasons[entry] = reason
    return reasons


def return_types(headers: str) -> dict[str, str]:
    """Return type of each function in C headers: its last word with the stars (``aclError``, ``void*``)."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", headers, flags=re.DOTALL)
    found = re.findall(r"\b(\w+)\s*(\**)\s*\b(\w+)\s*\(", code)
    return {name: word + stars for word, stars, name in found}


def stubs_for(
    symbols: Iterable[str], benign: Container[str], throwing: Container[str], types: Mapping[str, str]
) -> list[Stub]:
    """Decides what each stub does. C++ callers expect objects, which no stub can make, so C++ stubs throw."""
    stubs = []
    for symbol in symbols:
        if DATA_SYMBOL.match(symbol):
            raise StubError(
                f"{symbol} is data, which no stub can stand in for: implement it, or leave out the file"
            )
        if symbol in benign:
            action = "benign"
        elif symbol.startswith("_Z") or symbol in throwing:
            action = "refuse"
        else:
            action = "fail" if types.get(symbol, "aclError") in STATUS_TYPES else "null"
        stubs.append(Stub(symbol, action))
    return stubs


def source_of(stubs: Iterable[Stub]) -> str:
    """The C++ file. A mangled name is a legal identifier: `extern "C"` needs no assembly to define it."""
    head = '// Written by stub_generator.py.\n#include "stub.h"\n\nusing namespace emucann::stub;\n\n'
    return head + "".join(stub.code() for stub in stubs)


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["needed", "sources"])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--compiler", default="c++", help="asked where its runtime libraries are")
    parser.add_argument("--torch", type=Path, required=True, help="the installed torch package")
    parser.add_argument(
        "--room", type=Path, action="append", default=[], help="library of a room (needed: its name)"
    )
    parser.add_argument("--benign", type=Path, help="symbols that succeed without doing anything")
    parser.add_argument("--throwing", type=Path, help="C symbols whose callers drop the status")
    parser.add_argument("--headers", type=Path, help="folder of CANN's C headers")
    parser.add_argument("--output", type=Path, help="the C++ file to write")
    parser.add_argument("wheels", type=Path, nargs="+", help="shared libraries of the wheels")
    options = parser.parse_args(arguments)
    tools = Binutils(options.nm, options.readelf)
    try:
        if options.command == "needed":
            rooms = [room.name for room in options.room]
            print("\n".join(cann_libraries(tools, options.wheels, options.torch, rooms)))
            return 0
        providers = [
            *torch_files(options.torch),
            *c_runtime_files(options.compiler),
            *python_files(),
            *options.room,
        ]
        symbols = missing_symbols(tools, options.wheels, providers)
        benign = read_reasons(options.benign.read_text(), str(options.benign))
        throwing = read_reasons(options.throwing.read_text(), str(options.throwing))
        headers = "\n".join(path.read_text(errors="replace") for path in sorted(options.headers.rglob("*.h")))
        _write_if_changed(
            options.output, source_of(stubs_for(symbols, benign, throwing, return_types(headers)))
        )
    except (StubError, OSError) as problem:
        print(f"stub_generator: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
