"""Step system: what must be on the machine already, by the launcher, an image or a package manager."""

import platform
import shutil
from typing import get_args

from npu_assay.cann.emulated import compiler
from npu_assay.environment.cmake import cmake_version
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import Architecture
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError


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


STEP = Step(name="system", needs=(), run=_check)
