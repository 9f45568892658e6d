"""Is this a container? Some of npu-smi's answers are only guaranteed outside of one."""

from pathlib import Path

#: Docker and containerd's CRI; podman and buildah.
_MARKS = (".dockerenv", "run/.containerenv")


def in_container(root: Path = Path("/")) -> bool:
    """Whether a container engine left its mark."""
    return any((root / mark).exists() for mark in _MARKS)
