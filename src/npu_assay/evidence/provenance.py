"""Where a run happened: the machine, and the commit of this project."""

import os
import platform
import subprocess

from npu_assay import __version__
from npu_assay.evidence.machine_id import machine_id
from npu_assay.evidence.manifest import HostRecord, ProjectRecord
from npu_assay.project import ROOT


def host_record() -> HostRecord:
    """The machine this runs on."""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.system()
    return HostRecord(
        id=machine_id(),
        system=system,
        kernel=platform.release(),
        machine=platform.machine(),
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def project_record() -> ProjectRecord:
    """The version of npu-assay, and its git commit where it runs from a checkout."""
    commit = _git("rev-parse", "HEAD") if (ROOT / ".git").exists() else None
    changes = _git("status", "--porcelain") if commit else None
    return ProjectRecord(
        version=__version__,
        python=platform.python_version(),
        commit=commit or None,
        dirty=None if changes is None else bool(changes),
    )


def _git(*arguments: str) -> str | None:
    """git's answer, or None where git is missing or refuses (a checkout of another user)."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
