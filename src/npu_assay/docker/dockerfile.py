"""The Dockerfile, read as far as its layers have to be told apart: stages, and what they copy and run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_assay.project import ROOT

DOCKERFILE = ROOT / "docker" / "Dockerfile"
#: Of an instruction, such as --mount=...
_FLAG = re.compile(r"--[a-z]+=\S+ ")
_STEP = re.compile(r"--step ([\w-]+)")


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
        return [step for line in self.instructions for step in steps_in(line)]

    @property
    def copies(self) -> list[tuple[list[str], str]]:
        """Sources and the target of each COPY."""
        words = [line.split()[1:] for line in self.instructions if line.startswith("COPY ")]
        return [(sources, target) for *sources, target in words]


def steps_in(instruction: str) -> list[str]:
    """The steps of an environment that a RUN installs."""
    return _STEP.findall(instruction)


def read_stages(path: Path = DOCKERFILE) -> Mapping[str, Stage]:
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


def plain(instruction: str) -> str:
    """An instruction without flags and with single spaces, as it is in an image's history."""
    word, _, rest = " ".join(instruction.split()).partition(" ")
    rest += " "
    while flag := _FLAG.match(rest):
        rest = rest[flag.end() :]
    return f"{word} {rest.strip()}"
