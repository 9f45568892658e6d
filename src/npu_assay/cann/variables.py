"""The variables of a process that uses one CANN, whatever other one the caller's shell has sourced."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from npu_assay.cann.discovery import ATB_VARIABLE, HAL, TOOLKIT_INFO, TOOLKIT_VARIABLES
from npu_assay.cann.paths import is_file, is_folder, real_path
from npu_assay.cann.scripts import sourced
from npu_assay.cann.tree import CannTree

#: What environment scripts of CANN, ATB and custom operators set to folders of theirs. Settings, such as
#: ASCEND_GLOBAL_LOG_LEVEL or ASCEND_RT_VISIBLE_DEVICES, are the caller's.
LOCATIONS = (
    *TOOLKIT_VARIABLES,
    *("ASCEND_TOOLKIT_LATEST_HOME", "ASCEND_AICPU_PATH", "ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH"),
    *("TOOLCHAIN_HOME", ATB_VARIABLE, "ASDOPS_HOME_PATH", "ATB_CXX_ABI"),
)
#: Search paths that the scripts put CANN's folders into, beside those that a caller has of his own.
_SEARCHED = ("PATH", "CMAKE_PREFIX_PATH")
#: Likewise, but of these a caller's are never inherited.
_OWN = ("LD_LIBRARY_PATH", "PYTHONPATH")


def without_cann(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables without what the environment scripts of any CANN have set."""
    clean = {name: value for name, value in variables.items() if name not in LOCATIONS}
    for name in _SEARCHED:
        if name in clean:
            clean[name] = _only(clean[name], lambda entry: not _is_of_cann(entry))
    return clean


def cann_variables(cann: CannTree, base: Mapping[str, str]) -> dict[str, str]:
    """`base`, without any other CANN, after sourcing this one's own scripts, with its driver's libraries.

    A script may lead to a second toolkit, too, as by the link ascend-toolkit/latest: that one's folders are
    left out. The driver's come last, since CANN brings its own of some of their names, but before the
    toolkit's stubs to link against (devlib), which its script adds where it finds no driver: with a driver
    there these are left out.

    Raises UnusableError when a script is missing or ends the shell.
    """
    arguments = {} if cann.cxx_abi is None else {cann.atb_script: f"--cxx_abi={cann.cxx_abi}"}
    variables = sourced([cann.cann_script, cann.atb_script], without_cann(base), arguments)
    own = real_path(cann.install_info)
    for name in (*_SEARCHED, *_OWN):
        if name in variables:
            variables[name] = _only(variables[name], lambda entry: _toolkit_of(entry) in (None, own))
    folders = [folder for folder in cann.driver_folders if is_folder(folder)]
    entries = variables.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    if any(is_file(folder / HAL) for folder in folders):
        entries = [entry for entry in entries if Path(entry).name != "devlib"]
    variables["LD_LIBRARY_PATH"] = search_path(*entries, *folders)
    return variables


def search_path(*entries: Path | str | None) -> str:
    """Joins entries of a search path; an empty one would mean the current folder, so there is none."""
    parts = (part for entry in entries if entry for part in str(entry).split(os.pathsep))
    return os.pathsep.join(dict.fromkeys(part for part in parts if part))


def _only(value: str, wanted: Callable[[Path], bool]) -> str:
    """A search path without what is not wanted; entries that are no absolute path stay."""
    entries = value.split(os.pathsep)
    return os.pathsep.join(one for one in entries if not Path(one).is_absolute() or wanted(Path(one)))


def _is_of_cann(entry: Path) -> bool:
    """Whether a folder is part of a toolkit or of NNAL."""
    return _toolkit_of(entry) is not None or "nnal" in real_path(entry).parts


def _toolkit_of(entry: Path) -> Path | None:
    """The install info of the toolkit that a folder is part of, which tells one toolkit from another."""
    real = real_path(entry)
    for folder in (real, *real.parents):
        if info := next((info for info in folder.glob(f"*-linux/{TOOLKIT_INFO}") if is_file(info)), None):
            return real_path(info)
    return None
