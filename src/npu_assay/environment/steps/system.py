"""Step system: what must be on the machine already, by the launcher, an image or a package manager."""

import platform
import re
import shutil
import subprocess
from typing import get_args

from npu_assay.cann.emulated import compiler
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import Architecture
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError

CMAKE_AT_LEAST = (3, 22)


def _check(environment: Environment, report: Report) -> Facts:
    machine = platform.machine()
    if machine not in get_args(Architecture):
        raise UnusableError(
            f"this machine is {machine}; environments are for {', '.join(get_args(Architecture))}"
        )
    for tool in ("cc", "c++", "cmake", "make", "bash"):
        if shutil.which(tool) is None:
            raise UnusableError(f"no {tool} on PATH; ./assay installs it, or tells what to install")
    return {"architecture": machine, "compiler": compiler(), "cmake": cmake_version()}


def cmake_version() -> str:
    """The version of CMake on PATH. Raises UnusableError when it is too old to build the emulator."""
    said = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"cmake version ((\d+)\.(\d+)\S*)", said)
    if found is None or (int(found[2]), int(found[3])) < CMAKE_AT_LEAST:
        wanted = ".".join(map(str, CMAKE_AT_LEAST))
        raise UnusableError(f"CMake is {found[1] if found else 'unreadable'}, expected {wanted} or later")
    return found[1]


STEP = Step(name="system", needs=(), run=_check)
