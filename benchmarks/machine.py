"""What a reader must know of the machine to weigh a figure."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def processor_name(cpuinfo: str) -> str | None:
    """The processor's name in the text of /proc/cpuinfo; aarch64 has none there."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return None


def describe_machine() -> str:
    """The processor, the cores that this process may use, and how busy they are."""
    name = processor_name(Path("/proc/cpuinfo").read_text()) or "unnamed processor"
    cores = len(os.sched_getaffinity(0))
    busy = os.getloadavg()[1]
    return f"{name}, {platform.machine()}, {cores} cores; load average over 5 minutes {busy:.1f}"


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()
