"""Stand-ins for the CUDA libraries that torch's CUDA build links, so that it imports without any of them.

The dynamic loader wants every library that is NEEDED, and in it every versioned symbol. So for each of
NVIDIA's libraries that `import torch` needs and that is not there, a small one is compiled: every symbol that
torch asks of it is a function that returns 100, cudaErrorNoDevice (CUDA runtime API, error codes): torch sees
no GPU. Those that put an error into words return words, or torch would look for them at address 100. Nothing
of CUDA is copied or downloaded; the names come from torch's own libraries.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

from npu_assay.environment.folder import VenvFolder
from npu_assay.errors import UnusableError
from npu_assay.logged import first_error, run_logged

_NVIDIA = re.compile(r"lib(cu|nv|nccl)")
#: cudaGetErrorString, cudaGetErrorName, cudnnGetErrorString, ncclGetLastError and such return a C string.
_IN_WORDS = re.compile(r"Get(Error|Last|Result|Status)\w*(String|Name)$|^ncclGetLastError$")

#: What `import torch` loads first; everything else is NEEDED by these or by what they need.
TORCH = ("torch/lib/libtorch_global_deps.so", "torch/lib/libtorch_python.so")
TORCHVISION = ("torchvision/_C.so",)


@dataclass(frozen=True)
class Library:
    """What a shared library asks for and offers."""

    needed: tuple[str, ...]
    #: Undefined strong symbols -> the (library, version) that the linker bound them to; None where
    #: unversioned.
    undefined: Mapping[str, tuple[str, str] | None]
    defined: frozenset[str]


@dataclass
class StandIn:
    """A library to make: its symbols by version ("" for none)."""

    soname: str
    symbols: dict[str, set[str]] = field(default_factory=dict)

    def add(self, version: str, symbol: str) -> None:
        """Have the library define `symbol` under `version`."""
        self.symbols.setdefault(version, set()).add(symbol)

    def source(self) -> str:
        """Its C source."""
        names = sorted(name for symbols in self.symbols.values() for name in symbols)
        return "".join(map(_function, names)) or "typedef int nothing;\n"

    def version_script(self) -> str:
        """Its linker version script; empty when no symbol has a version."""
        return "".join(
            f"{version} {{ global: {' '.join(f'{name};' for name in sorted(names))} }};\n"
            for version, names in sorted(self.symbols.items())
            if version
        )


def _function(name: str) -> str:
    if _IN_WORDS.search(name):
        return f'const char *{name}(void) {{ return "no CUDA device: this is a stand-in for CUDA"; }}\n'
    return f"int {name}(void) {{ return 100; }}\n"


def read_library(path: Path) -> Library:
    """Read a shared library's dynamic section, symbols and version requirements."""
    try:
        with path.open("rb") as file:
            return _read_elf(ELFFile(file))
    except FileNotFoundError as error:
        raise UnusableError(f"{path}: not there; are torch and torchvision installed?") from error
    except (ELFError, ValueError) as error:
        raise UnusableError(f"{path}: not a shared library: {error}") from error


def _read_elf(elf: ELFFile) -> Library:
    dynamic = elf.get_section_by_name(".dynamic")
    symbols = elf.get_section_by_name(".dynsym")
    if not isinstance(dynamic, DynamicSection) or not isinstance(symbols, SymbolTableSection):
        raise ValueError("no dynamic section")
    versions = _version_requirements(elf)
    indices = elf.get_section_by_name(".gnu.version")
    undefined: dict[str, tuple[str, str] | None] = {}
    defined: set[str] = set()
    for index, symbol in enumerate(symbols.iter_symbols()):
        if symbol["st_shndx"] != "SHN_UNDEF":
            defined.add(symbol.name)
        elif symbol["st_info"]["bind"] == "STB_GLOBAL":
            version = indices.get_symbol(index)["ndx"] if isinstance(indices, GNUVerSymSection) else None
            undefined[symbol.name] = versions.get(version)
    # pyelftools sets `needed` on such tags at run time
    needed = tuple(str(tag.needed) for tag in dynamic.iter_tags("DT_NEEDED"))  # type: ignore[attr-defined]
    return Library(needed=needed, undefined=undefined, defined=frozenset(defined))


def _version_requirements(elf: ELFFile) -> dict[object, tuple[str, str]]:
    """Version index -> (library, version) that it stands for."""
    section = elf.get_section_by_name(".gnu.version_r")
    if not isinstance(section, GNUVerNeedSection):
        return {}
    return {
        auxiliary["vna_other"]: (str(library.name), str(auxiliary.name))
        for library, auxiliaries in section.iter_versions()
        for auxiliary in auxiliaries
    }


def loaded_with_torch(site_packages: Path, roots: Iterable[str] = TORCH + TORCHVISION) -> dict[str, Library]:
    """The libraries that are loaded from site-packages with `roots`, which are below it, by file name."""
    folder = site_packages / "torch" / "lib"
    loaded: dict[str, Library] = {}
    waiting = [site_packages / root for root in roots]
    while waiting:
        path = waiting.pop()
        if path.name not in loaded:
            loaded[path.name] = library = read_library(path)
            waiting += [folder / name for name in library.needed if (folder / name).is_file()]
    return loaded


def stand_ins(libraries: Mapping[str, Library]) -> list[StandIn]:
    """The stand-ins that these libraries need, sorted by name; none for a CPU build."""
    missing = sorted(
        {name for library in libraries.values() for name in library.needed if _NVIDIA.match(name)}
        - set(libraries)
    )
    made = {name: StandIn(name) for name in missing}
    offered = frozenset[str]().union(*(library.defined for library in libraries.values()))
    for library in libraries.values():
        for symbol, bound_to in library.undefined.items():
            if bound_to is not None:
                if bound_to[0] in made:
                    made[bound_to[0]].add(bound_to[1], symbol)
                continue
            home = _home(symbol, missing)
            if home and symbol not in offered:
                made[home].add("", symbol)
    return list(made.values())


def _home(symbol: str, sonames: Iterable[str]) -> str | None:
    """The library that an unversioned symbol is named after: ncclSend is libnccl's, cuFileRead libcufile's.

    Most such symbols are not NVIDIA's at all but libstdc++'s or the interpreter's; those must not be defined
    here.
    """
    stems = {name: name.removeprefix("lib").partition(".so")[0].lower() for name in sonames}
    fits = [name for name, stem in stems.items() if symbol.lower().startswith(stem)]
    return max(fits, key=lambda name: len(stems[name]), default=None)


def build(
    wanted: Iterable[StandIn], folder: Path, *, compiler: str, variables: Mapping[str, str], log: Path
) -> None:
    """Compile the stand-ins into `folder`. Raises UnusableError with the compiler's first error."""
    sources = folder / "source"
    sources.mkdir(parents=True, exist_ok=True)
    for library in wanted:
        source, script = sources / f"{library.soname}.c", sources / f"{library.soname}.map"
        source.write_text(library.source())
        script.write_text(library.version_script())
        run_logged(
            [
                *(compiler, "-w", "-shared", "-fPIC", "-O1", "-nostdlib", str(source)),
                *("-o", str(folder / library.soname), f"-Wl,-soname,{library.soname}"),
                *((f"-Wl,--version-script,{script}",) if script.stat().st_size else ()),
            ],
            log,
            doing=f"compiling a stand-in for {library.soname}",
            variables=variables,
            telling=first_error,
        )


def build_for_torch(folder: VenvFolder, log: Path, roots: Iterable[str] = TORCH + TORCHVISION) -> list[str]:
    """Compile what the torch of a venv lacks. Returns the libraries' names, none for a CPU build."""
    wanted = stand_ins(loaded_with_torch(folder.site_packages, roots))
    build(wanted, folder.cuda_standins, compiler="cc", variables=folder.build_variables(), log=log)
    return [library.soname for library in wanted]
