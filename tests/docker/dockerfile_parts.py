"""The Dockerfile, read as far as the tests need it: stages, what they start from, what they copy and run."""

import re
from dataclasses import dataclass
from pathlib import Path

from npu_assay.project import ROOT

DOCKERFILE = ROOT / "docker" / "Dockerfile"


@dataclass(frozen=True)
class Stage:
    """One stage."""

    name: str
    base: str
    """A stage or an image, with its arguments not filled in."""
    instructions: tuple[str, ...]
    """In order, continued lines joined."""

    @property
    def steps(self) -> list[str]:
        """What its layers install with --step, in order."""
        return [step for line in self.instructions for step in re.findall(r"--step ([\w-]+)", line)]

    @property
    def copies(self) -> list[tuple[list[str], str]]:
        """Sources and the target of each COPY."""
        words = [line.split()[1:] for line in self.instructions if line.startswith("COPY ")]
        return [(sources, target) for *sources, target in words]


def stages(path: Path = DOCKERFILE) -> dict[str, Stage]:
    """The stages by name, in order."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(), flags=re.MULTILINE)
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    found: dict[str, Stage] = {}
    for line in lines:
        if start := re.fullmatch(r"FROM (\S+) AS (\S+)", line):
            found[start[2]] = Stage(start[2], start[1], ())
        elif found:
            last = next(reversed(found.values()))
            found[last.name] = Stage(last.name, last.base, (*last.instructions, line))
    return found


def chain(target: str, arguments: dict[str, str], path: Path = DOCKERFILE) -> list[Stage]:
    """The stages that make a target with these arguments, the first one first."""
    by_name = stages(path)
    found: list[Stage] = []
    name = target
    while name in by_name:
        found.insert(0, by_name[name])
        name = re.sub(r"\$\{(\w+)\}", lambda match: arguments[match[1]], by_name[name].base)
    return found
