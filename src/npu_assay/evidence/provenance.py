"""Where a run happened: the machine, and the commit of this project."""

import os
import platform
import subprocess
from pathlib import Path

import npu_assay
from npu_assay.evidence.manifest import HostRecord, ProjectRecord


def host_record() -> HostRecord:
    """The machine this runs on."""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.system()
    return HostRecord(
        system=system,
        kernel=platform.release(),
        machine=platform.machine(),
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def project_record() -> ProjectRecord:
    """The version of npu-assay, and its git commit where it runs from a checkout."""
    checkout = Path(npu_assay.__file__).parents[2]
    commit = _git(checkout, "rev-parse", "HEAD") if (checkout / ".git").exists() else None
    changes = _git(checkout, "status", "--porcelain") if commit else None
    return ProjectRecord(
        version=npu_assay.__version__,
        python=platform.python_version(),
        commit=commit or None,
        dirty=None if changes is None else bool(changes),
    )


def _git(checkout: Path, *arguments: str) -> str | None:
    """git's answer, or None where git is missing or refuses (a checkout of another user)."""
    try:
        done = subprocess.run(
            ["git", "-C", str(checkout), *arguments], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
