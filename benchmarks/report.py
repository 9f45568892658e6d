"""The result as Markdown, and its place in a README: pure but for reading and writing that file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rates import Comparison, Spread

from npu_assay.errors import UsageError
from npu_assay.evidence.atomic import write_atomically


@dataclass(frozen=True)
class Place:
    """Where a program's result stands in a README: between two lines of its own."""

    program: str

    @property
    def begin(self) -> str:
        """The line before."""
        return f"<!-- {self.program}: begin; written by {self.program}.py --write -->"

    @property
    def end(self) -> str:
        """The line after."""
        return f"<!-- {self.program}: end -->"


THROUGHPUT = Place("throughput")
EVIDENCE = Place("evidence")
IMAGES = Place("images")


@dataclass(frozen=True)
class Report:
    """What a run found."""

    #: (engine, rate) -> the figures, against the CPU engine's.
    comparisons: Mapping[tuple[str, str], Comparison]
    #: What a reader must know of the run: the machine, threads, versions.
    facts: Mapping[str, str]

    def markdown(self) -> str:
        """A table of the figures, and a list of the facts."""
        lines = [
            "| engine | tokens/s | median (least to most) | CPU engine | ratio |",
            "| --- | --- | --- | --- | --- |",
        ]
        for (engine, rate), found in self.comparisons.items():
            cells = [engine, rate, _rate(found.emulated), _rate(found.cpu), _ratio(found.ratio)]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
        lines += [f"- {name}: {fact}" for name, fact in self.facts.items()]
        return "\n".join(lines) + "\n"


def _rate(spread: Spread) -> str:
    return f"{spread.median:,.0f} ({spread.least:,.0f} to {spread.most:,.0f})"


def _ratio(spread: Spread) -> str:
    return f"**{spread.median:.2f}** ({spread.least:.2f} to {spread.most:.2f})"


def with_report(text: str, place: Place, markdown: str, where: str) -> str:
    """`text` with the lines between the two markers replaced. Raises UsageError unless each is there once."""
    for marker in (place.begin, place.end):
        if (count := text.count(marker)) != 1:
            raise UsageError(f"{where}: expected one line {marker!r}, found {count}")
    before, _, rest = text.partition(place.begin)
    _, end, after = rest.partition(place.end)
    if not end:
        raise UsageError(f"{where}: {place.end!r} stands before {place.begin!r}")
    return f"{before}{place.begin}\n{markdown}{place.end}{after}"


def write_report(readme: Path, place: Place, markdown: str) -> None:
    """Put a report between the markers of a README."""
    text = with_report(readme.read_text(), place, markdown, str(readme))
    write_atomically(readme, text.encode())
