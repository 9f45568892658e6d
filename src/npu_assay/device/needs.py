"""What a container has to be given of a host with NPUs: `needs.txt`, read.

Sources: the `docker run` commands of vllm-ascend's installation guide (A2, A3) and of its pages on 310P and
950; of cann-container-image's OVERVIEW.md (950: ummu and uburma, no devmm_svm); of CANN's hixl (950: ummu,
uburma and driver/topo beyond what A2 and A3 need); vllm-project/recipes#907 (950: lib64 alone of the driver
ends in HCCL's EI0014). Documents alone: none of it was seen on hardware.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

Kind = Literal["device", "driver", "file"]
Chips = Literal["any", "950", "!950"]
When = Literal["always", "if-there", "several"]
_KINDS, _CHIPS, _WHEN = get_args(Kind), get_args(Chips), get_args(When)

#: What needs.txt calls the 950, as `ops_chip` does.
CHIP_950 = "950"
DEV = "/dev"


@dataclass(frozen=True)
class Need:
    """One line of needs.txt."""

    kind: Kind
    names: tuple[str, ...]
    """By kind below /dev, below the driver's folder, or absolute. A container has the first."""
    chips: Chips
    when: When
    why: str

    @property
    def required(self) -> bool:
        """Whether a container without it does not work; else it gets it where the host has it."""
        return self.when == "always"

    def applies(self, chip: str | None, dies: int) -> bool:
        """Whether a container with so many dies of this chip (`ops_chip`'s word or None) needs it."""
        if self.when == "several" and dies < 2:
            return False
        return self.chips == "any" or (self.chips == "950") == (chip == CHIP_950)

    def paths(self, driver: str) -> tuple[str, ...]:
        """Where the host may have it, absolute; `driver` is the driver's folder there."""
        folder = {"device": DEV, "driver": driver, "file": ""}[self.kind]
        return tuple(folder if name == "." else f"{folder}/{name.lstrip('/')}" for name in self.names)

    def target(self, driver: str) -> str:
        """Its path in the container."""
        return self.paths(driver)[0]

    def option(self, driver: str) -> tuple[str, str]:
        """The option of `docker run` that gives it."""
        target = self.target(driver)
        return ("--device", target) if self.kind == "device" else ("-v", f"{target}:{target}:ro")

    def missing(self, driver: str) -> str:
        """One line for a container, or a host, that lacks it."""
        there = " nor ".join(self.paths(driver))
        return f"no {there} ({self.why}): docker run needs {' '.join(self.option(driver))}"


def read_needs(text: str) -> tuple[Need, ...]:
    """Read needs.txt. Raises ValueError with the line that is none."""
    return tuple(_needs(text))


def _needs(text: str) -> Iterator[Need]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=4)
        if len(words) != 5 or words[0] not in _KINDS or words[2] not in _CHIPS or words[3] not in _WHEN:
            raise ValueError(f"needs.txt:{number}: expected kind, path, chips, when and why: {line!r}")
        kind, names, chips, when, why = words
        yield Need(cast(Kind, kind), tuple(names.split("|")), cast(Chips, chips), cast(When, when), why)


NEEDS = read_needs(Path(__file__).with_name("needs.txt").read_text())


def needs_of(chip: str | None, dies: int) -> tuple[Need, ...]:
    """What a container with so many dies of this chip needs, beside their nodes."""
    return tuple(need for need in NEEDS if need.applies(chip, dies))


def die_node(number: int) -> str:
    """The node of the die with this physical id."""
    return f"{DEV}/davinci{number}"
