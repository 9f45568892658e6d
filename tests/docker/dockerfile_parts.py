"""The Dockerfile, as far as the tests need it: which stages make a target."""

import re
from pathlib import Path

from npu_assay.docker.dockerfile import DOCKERFILE, Stage, read_stages

__all__ = ["DOCKERFILE", "Stage", "chain", "stages"]


def stages(path: Path = DOCKERFILE) -> dict[str, Stage]:
    """The stages by name, in order."""
    return dict(read_stages(path))


def chain(target: str, arguments: dict[str, str], path: Path = DOCKERFILE) -> list[Stage]:
    """The stages that make a target with these arguments, the first one first."""
    by_name = stages(path)
    found: list[Stage] = []
    name = target
    while name in by_name:
        found.insert(0, by_name[name])
        name = re.sub(r"\$\{(\w+)\}", lambda match: arguments[match[1]], by_name[name].base)
    return found
