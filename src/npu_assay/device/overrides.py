"""The user's explicit departures from the health check, and the lines of the log that the verifier reads.

NPU_INDEX and NPU_CHIP_INDEX name the NPU and chip whose health counts instead of that of the dies that the
process sees. SKIP_NPU_HEALTH_CHECK=1 leaves the query out, for drivers that do not implement it; such a run
is no formal one.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from npu_assay.device.die import Die
from npu_assay.device.host import Host
from npu_assay.device.visible import RT_VISIBLE_DEVICES, rt_visible
from npu_assay.errors import UnusableError, UsageError

NPU_INDEX, NPU_CHIP_INDEX = "NPU_INDEX", "NPU_CHIP_INDEX"
SKIP = "SKIP_NPU_HEALTH_CHECK"

PREFIX = "npu-health: "
_SKIPPED = f"{PREFIX}skipped, as {SKIP}=1 says"
_LOOKED_AT = f"{PREFIX}looked at "
_USED = f"{PREFIX}the run sees "
_OVERRIDE = f"{PREFIX}override "
_COUNT = re.compile(r"devices: (\d{1,9}), problems: (\d{1,9})")
_PLACE = re.compile(r"NPU (-?\d{1,18}) chip (-?\d{1,18})")

Place = tuple[int, int]


@dataclass(frozen=True)
class Overrides:
    """What the variables say."""

    npu_index: int | None = None
    chip_index: int | None = None
    skip: bool = False

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> "Overrides":
        """Raises UsageError for values that can't be meant."""
        skip = variables.get(SKIP, "")
        if skip not in ("", "0", "1"):
            raise UsageError(f"{SKIP}={skip!r}: expected 1 to leave out the health query, or 0")
        npu, chip = (_index(variables, name) for name in (NPU_INDEX, NPU_CHIP_INDEX))
        if chip is not None and npu is None:
            raise UsageError(f"{NPU_CHIP_INDEX}={chip} without {NPU_INDEX}: name the NPU too")
        return cls(npu, chip, skip == "1")

    @property
    def words(self) -> str:
        """The variables as they were set; empty for none."""
        pairs = ((NPU_INDEX, self.npu_index), (NPU_CHIP_INDEX, self.chip_index))
        return " ".join(f"{name}={value}" for name, value in pairs if value is not None)


def _index(variables: Mapping[str, str], name: str) -> int | None:
    value = variables.get(name, "")
    if not value:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise UsageError(f"{name}={value!r}: expected a whole number, as npu-smi info -m shows it")
    return int(value)


def dies_seen(host: Host, variables: Mapping[str, str]) -> tuple[Die, ...]:
    """The dies that a process with these variables sees, in its own order; all without variables.

    Raises UnusableError when the variable names none, or when the layout has no logical ids to name them by.
    """
    value = variables.get(RT_VISIBLE_DEVICES)
    if value is None:
        return host.dies
    by_logical = {die.visible_id: die for die in host.dies if die.visible_id is not None}
    if not by_logical:
        raise UnusableError(f"{RT_VISIBLE_DEVICES}={value!r}: npu-smi shows no logical ids; unset it")
    visible = rt_visible(value, by_logical.keys())
    if not visible.ids:
        raise UnusableError(
            f"{visible.problem}; the logical ids are {', '.join(map(str, sorted(by_logical)))}"
        )
    return tuple(by_logical[one] for one in visible.ids)


def dies_to_judge(host: Host, overrides: Overrides, seen: tuple[Die, ...]) -> tuple[Die, ...]:
    """The dies whose health counts. Raises UnusableError when an override names none."""
    if overrides.npu_index is None:
        return seen
    dies = host.die(overrides.npu_index, overrides.chip_index)
    if not dies:
        there = ", ".join(die.place for die in host.dies)
        raise UnusableError(f"{overrides.words}: no such die; there are {there}")
    return dies


def count_line(devices: int, problems: int) -> str:
    """The last line of the stage's log."""
    return f"devices: {devices}, problems: {problems}"


def log_lines(overrides: Overrides, judged: Iterable[Die], seen: Iterable[Die]) -> list[str]:
    """What goes into the stage's log."""
    lines = [f"{_OVERRIDE}{overrides.words}"] if overrides.words else []
    if overrides.skip:
        lines.append(_SKIPPED)
    lines.append(_USED + ", ".join(die.place for die in seen))
    lines.append(_LOOKED_AT + ", ".join(die.place for die in judged))
    return lines


@dataclass(frozen=True)
class HealthLog:
    """What a stage's log says of the departures; None where it says nothing."""

    skipped: bool
    override: str | None
    looked_at: frozenset[Place] | None
    seen: frozenset[Place] | None
    counted: tuple[int, int] | None = None
    """Devices, and problems with them."""


def read_log(lines: Iterable[str]) -> HealthLog:
    """Read the lines of `log_lines` and `count_line` out of a log; the last of a kind counts."""
    skipped, override, looked_at, seen, counted = False, None, None, None, None
    for line in lines:
        if line.startswith(_SKIPPED):
            skipped = True
        elif line.startswith(_OVERRIDE):
            override = line.removeprefix(_OVERRIDE).strip()
        elif line.startswith(_LOOKED_AT):
            looked_at = _places(line)
        elif line.startswith(_USED):
            seen = _places(line)
        elif match := _COUNT.fullmatch(line):
            counted = int(match[1]), int(match[2])
    return HealthLog(skipped, override, looked_at, seen, counted)


def _places(line: str) -> frozenset[Place]:
    return frozenset((int(npu), int(chip)) for npu, chip in _PLACE.findall(line))
