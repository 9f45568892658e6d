"""When the stages of a run began and ended, on one axis."""

import math
from dataclasses import dataclass

from npu_assay.evidence.manifest import Manifest, StageRecord
from npu_assay.report.legible import seconds

#: Distances between marks of the axis, in seconds; beyond, whole hours.
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
_MOST_MARKS = 5
_HOUR = 3600
#: A bar of less, in per cent, would not be seen.
_LEAST = 0.6


@dataclass(frozen=True)
class Bar:
    """A stage on the axis, in per cent of it."""

    start: float
    width: float
    begins: float
    """Seconds after the run began."""
    takes: float
    """Seconds."""

    @property
    def words(self) -> str:
        """What the bar shows, for those who can't see it."""
        return f"begins {seconds(self.begins)} after the run, takes {seconds(self.takes)}"

    def in_characters(self, length: int) -> str:
        """The same for a line of text, whose axis is that many characters long."""
        first = min(length - 1, int(self.start * length / 100))
        filled = min(length - first, max(1, round(self.width * length / 100)))
        return "·" * first + "█" * filled + "·" * (length - first - filled)


@dataclass(frozen=True)
class Mark:
    """A mark of the axis, in per cent of it."""

    at: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """The axis of a run."""

    marks: tuple[Mark, ...]
    bars: dict[str, Bar]
    """By stage; of those that were started."""


def timeline(manifest: Manifest) -> Timeline:
    """The run's. Times that can't be (a stage outside of its run) end at the axis's ends."""
    spans = {stage.name: span for stage in manifest.stages if (span := _span(manifest, stage)) is not None}
    whole = (manifest.finished - manifest.started).total_seconds()
    length = max([whole, *(begins + takes for begins, takes in spans.values())])
    if length <= 0:
        return Timeline((), {})
    return Timeline(_marks(length), {name: _bar(length, *span) for name, span in spans.items()})


def _span(manifest: Manifest, stage: StageRecord) -> tuple[float, float] | None:
    if stage.started is None or stage.seconds is None or not math.isfinite(stage.seconds):
        return None
    return max(0.0, (stage.started - manifest.started).total_seconds()), max(0.0, stage.seconds)


def _bar(length: float, begins: float, takes: float) -> Bar:
    width = max(_LEAST, 100 * takes / length)
    return Bar(round(min(100 * begins / length, 100 - width), 2), round(width, 2), begins, takes)


def _marks(length: float) -> tuple[Mark, ...]:
    step = next((step for step in _STEPS if length / step <= _MOST_MARKS), None)
    step = step or _HOUR * math.ceil(length / _HOUR / _MOST_MARKS)
    return tuple(
        Mark(round(100 * at / length, 2), _label(at, step)) for at in range(0, math.ceil(length), step)
    )


def _label(at: int, step: int) -> str:
    if at == 0:
        return "0"
    for unit, in_seconds in (("h", _HOUR), ("min", 60)):
        if step % in_seconds == 0:
            return f"{at // in_seconds} {unit}"
    return f"{at} s"
