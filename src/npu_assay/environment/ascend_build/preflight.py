"""What must be there before hours of compiling begin: everything that is not is told at once, a line each."""

import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from npu_assay.disk import OF_THE_CACHE, require_free
from npu_assay.environment.ascend_build.soc import WITH_KERNELS, DeviceType, Soc
from npu_assay.environment.ascend_build.toolchain import DEVICE_COMPILERS, KERNEL_CMAKE, Toolchain
from npu_assay.environment.cmake import cmake_version
from npu_assay.environment.environment import Environment
from npu_assay.errors import UnusableError
from npu_assay.source.tree import SourceTree

#: The sources, objects, operator packages and the wheel of a build; a guess, never measured.
NEEDED_MIB = 6000

#: Which ops package, by the chip in its name, has the operators of a device type.
_OPS = {"910b": "A2", "a3": "A3", "310p": "_310P", "950": "A5"}

#: Of ExternalProject_Add and FetchContent_Declare, as text or in a variable.
_DOWNLOAD = re.compile(r"\bURL\b.*?\bhttps?://|\bset\(\w*URL\s+\"https?://", re.DOTALL)
_BUILD_SCRIPT = Path("csrc/build_aclnn.sh")
_CATLASS = Path("csrc/third_party/catlass/include")
_UPSTREAM = "https://github.com/vllm-project/vllm-ascend"
HCCL_VARIABLE = "HCCL_STRUCT_FILE_PATH"
_HCCL_HEADER = "moe_distribute_base.h"


def check(environment: Environment, tree: SourceTree, soc: Soc, toolchain: Toolchain) -> None:
    """Raises UnusableError with a line for everything that is missing: what, where, and what to type."""
    checks = (_kernel_cmake, _device_compiler, _ops, _python, _host_tools, _hccl_header)
    faults = [line for one in checks for line in one(tree.files, soc, toolchain)]
    faults += _catlass(tree, soc)
    try:
        require_free(environment.cache, NEEDED_MIB, "compiling vllm-ascend", OF_THE_CACHE)
    except UnusableError as error:
        faults.append(str(error))
    if faults:
        raise UnusableError("\n".join(faults))


def _kernel_cmake(tree: Path, soc: Soc, toolchain: Toolchain) -> Iterator[str]:
    if toolchain.kernel_cmake is None:
        yield (
            f"{toolchain.cann}: no ascendc.cmake in {', '.join(KERNEL_CMAKE)}; vllm-ascend is compiled with"
            " the whole toolkit package (Ascend-cann-toolkit), nnrt alone has no compiler: install that"
        )


def _device_compiler(tree: Path, soc: Soc, toolchain: Toolchain) -> Iterator[str]:
    if toolchain.device_compiler is None:
        yield (
            f"{toolchain.cann}: neither {' nor '.join(DEVICE_COMPILERS)} on PATH or in its own folders;"
            " install the whole toolkit package (Ascend-cann-toolkit)"
        )


def _ops(tree: Path, soc: Soc, toolchain: Toolchain) -> Iterator[str]:
    ops, wanted = toolchain.ops, soc.device_type
    if ops is None:
        yield (
            f"{toolchain.cann}/{platform.machine()}-linux/ascend_ops_install.info: no ops package can be read"
            f" there; install the one for the chip (Ascend-cann-{_ops_chip(wanted)}-ops)"
        )
    elif ops.chip is not None and _OPS.get(ops.chip.lower(), wanted) != wanted:
        yield (
            f"{toolchain.cann}: has {ops.package_name}, and {soc.name} wants"
            f" Ascend-cann-{_ops_chip(wanted)}-ops; install that one"
        )


def _ops_chip(device_type: DeviceType) -> str:
    chip = next(chip for chip, kind in _OPS.items() if kind == device_type)
    return chip.upper() if chip == "a3" else chip


def _python(tree: Path, soc: Soc, toolchain: Toolchain) -> Iterator[str]:
    python = toolchain.python
    if not (python.include / "Python.h").is_file():
        minor = ".".join(python.version.split(".")[:2])
        yield f"{python.include}: no Python.h; install Python's headers: apt-get install python{minor}-dev"
    if python.missing:
        yield (
            f"the environment's Python has no {', '.join(python.missing)}, which a build imports; the lock's"
            " requirements have it: npu-assay env check says what else is gone"
        )


def _host_tools(tree: Path, soc: Soc, toolchain: Toolchain) -> Iterator[str]:
    path = toolchain.variables.get("PATH", "")
    missing = [name for name in ("cc", "c++", "make", "cmake") if shutil.which(name, path=path) is None]
    if missing:
        yield f"no {', '.join(missing)} on PATH; ./assay installs it, or tells what to install"
    if "cmake" not in missing:
        try:
            cmake_version()
        except UnusableError as error:
            yield f"{error}; install a later one"


def may_download(tree: Path) -> tuple[str, ...]:
    """What csrc's own CMake files download while they run, where it is not in csrc/third_party: of 0.22.1rc1
    json, makeself and others, from addresses in csrc/cmake/third_party, some without a hash. 0.18.0: nothing.
    """
    files = sorted((tree / "csrc/cmake/third_party").glob("*.cmake"))
    return tuple(file.stem for file in files if _DOWNLOAD.search(file.read_text(errors="replace")))


def _script_of(tree: Path) -> str:
    """The script that makes the custom operators, if this tree has one."""
    try:
        return (tree / _BUILD_SCRIPT).read_text(errors="replace")
    except OSError:
        return ""


def _catlass(tree: SourceTree, soc: Soc) -> Iterator[str]:
    """Without it the script would fetch it, in the middle of the build."""
    wanted = soc.device_type in WITH_KERNELS and "catlass" in _script_of(tree.files)
    if wanted and not (tree.files / _CATLASS).is_dir():
        public = Version(tree.record.version).public
        yield (
            f"{_CATLASS.parent} is not in the sources, which {soc.name} is compiled with; source"
            " distributions never have it: give a repository (--vllm-ascend"
            f" git+{_UPSTREAM}@v{public}), or a checkout after:"
            f" git submodule update --init {_CATLASS.parent}"
        )


def _hccl_header(tree: Path, soc: Soc, toolchain: Toolchain) -> Iterator[str]:
    if needs_hccl_header(tree, soc) and hccl_header(toolchain) is None:
        yield (
            f"{HCCL_VARIABLE} names no file, and CANN has no {_HCCL_HEADER}; {_BUILD_SCRIPT} copies it for"
            f" {soc.name}: set {HCCL_VARIABLE} to that header of CANN"
        )


def needs_hccl_header(tree: Path, soc: Soc) -> bool:
    """Whether the build for an A3 copies a header that a variable names, which nothing of the tree sets."""
    script = _script_of(tree)
    reads = re.search(rf"\$\{{?{HCCL_VARIABLE}\b", script) is not None
    sets = re.search(rf"^\s*(?:export\s+)?{HCCL_VARIABLE}=", script, re.MULTILINE) is not None
    return soc.device_type == "A3" and reads and not sets


def hccl_header(toolchain: Toolchain) -> Path | None:
    """The header: what the variable names, else the first of its name in CANN."""
    if (named := toolchain.variables.get(HCCL_VARIABLE)) and Path(named).is_file():
        return Path(named)
    return next(iter(sorted(toolchain.cann.rglob(_HCCL_HEADER))), None)
