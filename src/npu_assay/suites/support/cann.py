"""Which CANN a process has really loaded: read from its memory map and from the library itself."""

import ctypes
import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
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

#: How the names of those begin that the emulated CANN alone has.
EMULATOR_LIBRARIES = "libemucann"
VERSION_SYMBOL = "emucann_version"
INSTALL_INFO = "ascend_toolkit_install.info"


def cann_libraries(maps: str) -> list[str]:
    """Return the paths of CANN's libraries in the text of a /proc/<pid>/maps, sorted, each once."""
    # address perms offset dev inode path; the path may hold spaces (proc(5)).
    paths = {fields[5] for line in maps.splitlines() if len(fields := line.split(None, 5)) == 6}
    return sorted(
        path
        for path in paths
        if (name := Path(path).name.split(".so")[0]) in CANN_LIBRARIES or name.startswith(EMULATOR_LIBRARIES)
    )


def loaded_cann_libraries() -> list[str]:
    """Return the paths of CANN's libraries that this process has loaded."""
    return cann_libraries(Path("/proc/self/maps").read_text())


def process_map(process: str, libraries: Iterable[str]) -> str:
    """Return a process's lines for the log: its name, then `process-map: PATH` for each library."""
    return "\n".join([f"process: {process}", *(f"process-map: {library}" for library in libraries)])


def library_lines(libraries: Iterable[str]) -> list[str]:
    """Return the log's lines with the sha256 of each libascendcl that a process has loaded.

    Raises:
        RuntimeError: its file is gone.
    """
    lines = []
    for path in libraries:
        if Path(path).name.startswith("libascendcl.so"):
            try:
                sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            except OSError as error:
                raise RuntimeError(f"{path}: {error.strerror}: expected the loaded library") from error
            lines.append(f"cann-library: sha256 {sha256} {path}")
    return lines


def print_libraries(process: str, libraries: Sequence[str]) -> None:
    """Print the lines of a process: its map, and which file its libascendcl is."""
    print("\n".join([process_map(process, libraries), *library_lines(libraries)]), flush=True)


def print_process_map() -> None:
    """Print the lines of this process."""
    print_libraries(f"{Path(sys.argv[0]).name} pid {os.getpid()}", loaded_cann_libraries())


def cann_identity(libraries: Iterable[str]) -> str:
    """Say which CANN this process runs on.

    The emulated CANN's libascendcl exports a function that returns its version, and the copy that is loaded
    is asked. CANN's own exports no such function: then it is `hardware` and the build, from the install info
    that belongs to the loaded copy.

    Raises:
        RuntimeError: libascendcl isn't loaded, or its install info can't be found.
    """
    path = loaded_library("libascendcl", libraries)
    version = getattr(ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD), VERSION_SYMBOL, None)
    if version is None:
        return f"hardware {inner_version(install_info(path))}"
    version.restype = ctypes.c_char_p
    return version().decode()


def loaded_library(name: str, libraries: Iterable[str]) -> str:
    """Return the path of the library of that name.

    Raises:
        RuntimeError: it isn't loaded.
    """
    for path in libraries:
        if Path(path).name.startswith(f"{name}.so"):
            return path
    raise RuntimeError(f"{name}.so is not loaded: expected a process that has used the NPU")


def install_info(library: str) -> Path:
    """Return the install info of the CANN that a library belongs to, whatever the variables say.

    It stands in `<arch>-linux/`, and the library somewhere below that folder or the one above it.

    Raises:
        RuntimeError: there is none.
    """
    for folder in Path(library).resolve().parents:
        for place in (folder, folder / f"{platform.machine()}-linux"):
            if (place / INSTALL_INFO).is_file():
                return place / INSTALL_INFO
    raise RuntimeError(f"{library}: no {INSTALL_INFO} above it: expected a library of an installed CANN")


def inner_version(file: Path) -> str:
    """Return CANN's build: the innerversion in an install info.

    Raises:
        RuntimeError: the file has not exactly one.
    """
    values = [
        value.strip()
        for key, _, value in (line.partition("=") for line in file.read_text().splitlines())
        if key.strip() == "innerversion"
    ]
    if len(values) != 1 or not values[0]:
        raise RuntimeError(f"{file}: expected one line innerversion=..., found {len(values)} with {values}")
    return values[0]


def stray_from_home(libraries: Iterable[str], variables: Mapping[str, str] = os.environ) -> str | None:
    """Say how the loaded CANN is another than the one that ASCEND_HOME_PATH means, or None where it is not.

    Raises:
        RuntimeError: as loaded_library and install_info.
    """
    home = variables.get("ASCEND_HOME_PATH")
    if not home:
        return "ASCEND_HOME_PATH is not set: source CANN's set_env.sh"
    library = loaded_library("libascendcl", libraries)
    root = install_info(library).parent.parent.resolve()
    meant = Path(home).resolve()
    # Before CANN 8.5 the variable means latest/, a folder of links into that of the version.
    arch = (meant / f"{platform.machine()}-linux").resolve()
    if root in (meant, meant.parent, arch.parent):
        return None
    return f"{library} is loaded, but ASCEND_HOME_PATH is {home}"
