"""Which CANN a process has really loaded: read from its memory map and from the library itself."""

import ctypes
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

#: Libraries of CANN (toolkit, driver, ATB) that torch-npu and vllm-ascend link or open.
CANN_LIBRARIES = frozenset(
    (
        "libacl_op_compiler",
        "libacl_tdt_channel",
        "libascend_dump",
        "libascend_hal",
        "libascend_protobuf",
        "libascendalog",
        "libascendcl",
        "libatb",
        "libc_sec",
        "liberror_manager",
        "libfmk_parser",
        "libge_common_base",
        "libge_runner",
        "libgraph",
        "libhccl",
        "libmmpa",
        "libnnopbase",
        "libopapi",
        "libplatform",
        "libprofapi",
        "libregister",
        "libruntime",
        "libunified_dlog",
    )
)

VERSION_SYMBOL = "emucann_version"
INSTALL_INFO = "ascend_toolkit_install.info"


def cann_libraries(maps: str) -> list[str]:
    """Return the paths of CANN's libraries in the text of a /proc/<pid>/maps, sorted, each once."""
    # address perms offset dev inode path; the path may hold spaces (proc(5)).
    paths = {fields[5] for line in maps.splitlines() if len(fields := line.split(None, 5)) == 6}
    return sorted(path for path in paths if Path(path).name.split(".so")[0] in CANN_LIBRARIES)


def loaded_cann_libraries() -> list[str]:
    """Return the paths of CANN's libraries that this process has loaded."""
    return cann_libraries(Path("/proc/self/maps").read_text())


def process_map(process: str, libraries: Iterable[str]) -> str:
    """Return a process's lines for the log: its name, then `process-map: PATH` for each library."""
    return "\n".join([f"process: {process}", *(f"process-map: {library}" for library in libraries)])


def print_process_map() -> None:
    """Print the lines of this process."""
    name = f"{Path(sys.argv[0]).name} pid {os.getpid()}"
    print(process_map(name, loaded_cann_libraries()), flush=True)


def cann_identity(libraries: Iterable[str], variables: Mapping[str, str] = os.environ) -> str:
    """Say which CANN this process runs on.

    The emulated CANN's libascendcl exports a function that returns its version, and the copy that is loaded
    is asked. CANN's own exports no such function: then it is `hardware` and the build, from the install info.

    Raises:
        RuntimeError: libascendcl isn't loaded, or CANN's install info can't be found.
    """
    path = next((path for path in libraries if Path(path).name.startswith("libascendcl.so")), None)
    if path is None:
        raise RuntimeError("libascendcl.so is not loaded: expected a process that has used the NPU")
    version = getattr(ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD), VERSION_SYMBOL, None)
    if version is None:
        return f"hardware {inner_version(variables)}"
    version.restype = ctypes.c_char_p
    return version().decode()


def inner_version(variables: Mapping[str, str] = os.environ) -> str:
    """Return CANN's build: innerversion of ascend_toolkit_install.info below ASCEND_TOOLKIT_HOME.

    Raises:
        RuntimeError: the variable, the file or the key is missing.
    """
    home = variables.get("ASCEND_TOOLKIT_HOME")
    if home is None:
        raise RuntimeError("ASCEND_TOOLKIT_HOME is not set: source CANN's set_env.sh")
    file = Path(home) / f"{platform.machine()}-linux" / INSTALL_INFO
    if not file.is_file():
        raise RuntimeError(f"{file} is missing: expected a CANN toolkit in ASCEND_TOOLKIT_HOME")
    for line in file.read_text().splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "innerversion":
            return value.strip()
    raise RuntimeError(f"{file} has no innerversion: expected a line innerversion=...")
