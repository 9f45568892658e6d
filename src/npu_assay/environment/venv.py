"""A Python that somebody else made an environment with."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from npu_assay.errors import UnusableError, UsageError

_ASK = """\
import json, platform, sysconfig
print(json.dumps([platform.python_version(), sysconfig.get_path("purelib")]))
"""


@dataclass(frozen=True)
class OtherPython:
    """Its Python, that one's version, and where its packages are."""

    python: Path
    version: str
    site_packages: Path


def python_of(venv: Path) -> Path:
    """The Python of a virtual environment. Raises UnusableError where there is none."""
    python = venv / "bin" / "python"
    if not python.exists():
        raise UnusableError(
            f"{venv}: no bin/python, so no virtual environment; name its folder or use --python"
        )
    return python


def other_python(venv: Path | None, python: Path | None) -> OtherPython | None:
    """The Python of `--venv` or of `--python`, if either is given; UsageError for both."""
    if venv and python:
        raise UsageError("--venv and --python name the same thing; give one")
    if venv:
        python = python_of(venv)
    return ask(python) if python else None


def ask(python: Path) -> OtherPython:
    """Ask a Python where its packages are. Raises UnusableError when it can't be run."""
    try:
        # -I: what its users have in PYTHONPATH is not part of it. -S is not given: .pth files may move it.
        said = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True, check=True).stdout
        version, site_packages = json.loads(said)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise UnusableError(f"{python}: can't be asked where its packages are: {error}") from error
    return OtherPython(python.absolute(), version, Path(site_packages))
