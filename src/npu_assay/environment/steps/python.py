"""Step python: the virtual environment and every dependency that is not a component."""

import sys
from pathlib import Path

from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.environment.pip import pip_install
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError
from npu_assay.logged import run_logged


def base_python(version: str) -> Path:
    """The Python of that version that npu-assay itself was started with, outside of any venv."""
    python = Path(sys.base_prefix) / "bin" / f"python{version}"
    if not python.is_file():
        ours = ".".join(map(str, sys.version_info[:2]))
        raise UnusableError(f"{python}: not there; the lock wants Python {version}, npu-assay runs on {ours}")
    return python


def _install(environment: Environment, report: Report) -> Facts:
    python = base_python(environment.lock.python)
    run_logged(
        [str(python), "-m", "venv", str(environment.venv)],
        environment.root / "logs" / "python.log",
        doing="step python: making the venv",
        variables=environment.build_variables(),
    )
    pip_install(environment, "python", environment.lock.requirements_file)
    return {"python": str(python), "packages": len(installed(environment.site_packages))}


STEP = Step(name="python", needs=("system",), run=_install)
