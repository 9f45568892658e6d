"""The variables that a build on hardware runs with: the environment's and CANN's, and nothing of the caller's
that would change what is compiled.
"""

import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path

from npu_assay.cann.variables import cann_variables, search_path
from npu_assay.environment.environment import Environment
from npu_assay.errors import UsageError

#: What upstream's setup.py, CMake, compilers, pip and git take from a caller's shell.
_NOT_INHERITED = (
    *("ARCHFLAGS", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS", "MFLAGS", "VERBOSE"),
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "PKG_CONFIG_PATH"),
    *("C_COMPILER", "CXX_COMPILER", "COMPILE_CUSTOM_KERNELS", "FETCHCONTENT_BASE_DIR", "SOC_VERSION"),
    *("VLLM_ASCEND_ENABLE_BATCH_MEMCPY", "VLLM_BATCH_INVARIANT"),
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "SOURCE_DATE_EPOCH"),
)
_PREFIXES = ("CCACHE_", "CMAKE_", "PIP_", "SETUPTOOLS_SCM_", "DISTUTILS_")

#: A unit of csrc that includes torch takes so much while it is compiled, roughly; inferred, not measured.
_MIB_A_JOB = 4096
CCACHE_MAXSIZE = "5G"

_HAL = "libascend_hal.so"


def build_variables(environment: Environment, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """All variables of a build but those about the tree, the chip and the folder that it works in.

    Raises UnusableError where CANN's scripts can't be sourced, UsageError for a MAX_JOBS that is no number.
    """
    own = {
        name: value
        for name, value in base.items()
        if name not in _NOT_INHERITED and not name.startswith(_PREFIXES)
    }
    variables = cann_variables(environment.cann, environment.build_variables(own))
    # setup.py asks `python3 -m pip` where torch-npu is: that must be the environment's.
    variables["PATH"] = search_path(environment.python.parent, variables.get("PATH"))
    variables["LD_LIBRARY_PATH"] = _with_stubs(environment, variables)
    return variables | {
        "CMAKE_BUILD_TYPE": "Release",
        "MAX_JOBS": str(jobs(base)),
        # Nothing is fetched, and no setting of the user's pip or git says otherwise.
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        **_ccache(environment.cache, variables),
    }


def work_variables(work: Path) -> dict[str, str]:
    """Variables that keep a build in its own folder `work`, which they make ready.

    csrc/build_aclnn.sh writes into git's global configuration, and CANN's compiler into the home folder.
    """
    home, temporary = work / "home", work / "tmp"
    home.mkdir(parents=True, exist_ok=True)
    temporary.mkdir(exist_ok=True)
    config = home / "gitconfig"
    config.touch()
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_GLOBAL": str(config),
        "TMPDIR": str(temporary),
        # What ccache knows of a file does not depend on where this folder is.
        "CCACHE_BASEDIR": str(work),
        "CCACHE_NOHASHDIR": "1",
    }


def setup_variables(soc: str, version: str, *, compiles: bool) -> dict[str, str]:
    """What upstream's setup.py and setuptools-scm ask for: the chip, the version, and whether to compile."""
    return {
        "SOC_VERSION": soc,
        "COMPILE_CUSTOM_KERNELS": str(int(compiles)),
        "SETUPTOOLS_SCM_PRETEND_VERSION": version,
    }


def jobs(base: Mapping[str, str] = os.environ, available_mib: int | None = None) -> int:
    """How many compilers setup.py starts at once: MAX_JOBS, else as many as cores and memory allow.

    csrc/build.sh, which makes the custom operators, does not look at it: it takes two a processor.
    """
    if asked := base.get("MAX_JOBS"):
        if not asked.isdecimal() or int(asked) < 1:
            raise UsageError(f"MAX_JOBS is {asked!r}, expected a number from 1 on; set it, or unset it")
        return int(asked)
    memory = _available_mib() if available_mib is None else available_mib
    return max(1, min(len(os.sched_getaffinity(0)), memory // _MIB_A_JOB))


def _available_mib() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20


def _with_stubs(environment: Environment, variables: Mapping[str, str]) -> str:
    """LD_LIBRARY_PATH, with the toolkit's stubs of the driver's libraries only where there is no driver.

    What links against CANN's libraries wants libascend_hal.so; a stub must never be found before the real
    one (upstream's Dockerfiles add devlib, since images are built on machines without an NPU).
    """
    entries = [entry for entry in variables.get("LD_LIBRARY_PATH", "").split(os.pathsep) if entry]
    if not any((folder / _HAL).is_file() for folder in environment.cann.driver_folders):
        cann = Path(variables.get("ASCEND_HOME_PATH", ""))
        stubs = (cann / f"{platform.machine()}-linux" / "devlib", cann / "devlib")
        entries += [str(folder) for folder in stubs if folder.is_dir()]
    return os.pathsep.join(dict.fromkeys(entries))


def _ccache(cache: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """ccache for the host's compilers, where it is on PATH, with a folder of ours.

    The kernels of csrc/kernels are compiled by CANN's own driver and not cached by it; csrc/build.sh puts
    ccache before CANN's compiler itself, and whether that one's output is ever taken from it was not seen.
    """
    if shutil.which("ccache", path=variables.get("PATH", "")) is None:
        return {}
    return {
        "CMAKE_C_COMPILER_LAUNCHER": "ccache",
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_DIR": str(cache / "ccache"),
        "CCACHE_MAXSIZE": CCACHE_MAXSIZE,
    }
