"""Which of the Dockerfile's stages make a target."""

import re
from collections.abc import Mapping
from pathlib import Path

from npu_assay.docker.dockerfile import DOCKERFILE, Stage, read_stages


def chain(target: str, arguments: Mapping[str, str], path: Path = DOCKERFILE) -> list[Stage]:
    """The stages that make a target with these arguments, the first one first."""
    stages = read_stages(path)
    found: list[Stage] = []
    name = target
    while name in stages:
        found.insert(0, stages[name])
        name = re.sub(r"\$\{(\w+)\}", lambda match: arguments[match[1]], stages[name].base)
    return found
