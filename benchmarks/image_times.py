"""What building an image took, in each order of its layers: the table, and what took more than it may."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rates import Spread

#: A rebuild takes at most this part of a cold build, and so many seconds.
MOST_OF_COLD = 0.1
MOST_SECONDS = 20.0


@dataclass(frozen=True)
class OrderTimes:
    """Seconds that builds took whose layers are in one order."""

    order: str
    """What the order is called, in the table."""
    cold: float
    """With nothing there but the base image and the files that were fetched."""
    rebuilds: Mapping[str, Sequence[float]]
    """After a change of one line, by where the line is; each change is a new one."""

    def part_of_cold(self, change: str) -> float:
        """What a rebuild takes of a cold build's time."""
        return Spread.of(self.rebuilds[change]).median / self.cold


def excesses(ours: OrderTimes) -> Iterator[str]:
    """What took more than it may, a line each."""
    for change, seconds in ours.rebuilds.items():
        median, part = Spread.of(seconds).median, ours.part_of_cold(change)
        if median >= MOST_SECONDS:
            yield f"after {change}: {median:.1f} s, less than {MOST_SECONDS:.0f} s are allowed"
        if part > MOST_OF_COLD:
            yield f"after {change}: {part:.3f} of the cold build, at most {MOST_OF_COLD} are allowed"


def table(orders: Sequence[OrderTimes]) -> str:
    """A Markdown table, a line each order."""
    changes = list(orders[0].rebuilds)
    lines = [
        f"| layers | cold | {' | '.join(f'after {change}' for change in changes)} |",
        f"| --- | --- |{' --- |' * len(changes)}",
    ]
    for times in orders:
        cells = [_rebuild(times, change) for change in changes]
        lines.append(f"| {times.order} | {times.cold:.0f} s | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _rebuild(times: OrderTimes, change: str) -> str:
    if change not in times.rebuilds:
        return "not measured"
    spread = Spread.of(times.rebuilds[change])
    extremes = f" ({spread.least:.1f} to {spread.most:.1f})" if len(times.rebuilds[change]) > 1 else ""
    return f"{spread.median:.1f} s{extremes}, **{times.part_of_cold(change):.3f}** of the cold build"
