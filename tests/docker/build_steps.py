"""What BuildKit's plain progress says of each layer."""

import re
from dataclasses import dataclass

_BEGIN = re.compile(r"#(?P<number>\d+) \[(?P<stage>[\w-]+) +(?P<place>\d+)/\d+\] (?P<instruction>.+)")


@dataclass(frozen=True)
class BuiltStep:
    """One instruction that makes a layer."""

    stage: str
    """Of the Dockerfile."""
    instruction: str
    cached: bool
    """Whether it was made by an earlier build."""


def build_steps(log: str) -> list[BuiltStep]:
    """The instructions of a build's log, each once, in the order in which BuildKit began them."""
    cached = {line.partition(" ")[0][1:] for line in log.splitlines() if re.fullmatch(r"#\d+ CACHED", line)}
    found: dict[str, BuiltStep] = {}
    for line in log.splitlines():
        if begin := _BEGIN.fullmatch(line):
            step = BuiltStep(begin["stage"], begin["instruction"], begin["number"] in cached)
            found.setdefault(begin["number"], step)
    return list(found.values())


def made_anew(log: str) -> set[str]:
    """The stages of which a build ran an instruction again.

    FROM and WORKDIR are no work, and BuildKit never says CACHED of the first ones of a stage.
    """
    worked = (step for step in build_steps(log) if step.instruction.startswith(("RUN ", "COPY ")))
    return {step.stage for step in worked if not step.cached}
