"""The result as Markdown, and its place in a README: pure but for reading and writing that file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rates import Comparison, Spread

from npu_assay.errors import UsageError
from npu_assay.evidence.atomic import write_atomically

BEGIN = "<!-- throughput: begin; written by throughput.py --write -->"
END = "<!-- throughput: end -->"


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


def with_report(text: str, markdown: str, where: str) -> str:
    """`text` with the lines between the two markers replaced. Raises UsageError unless each is there once."""
    for marker in (BEGIN, END):
        if (count := text.count(marker)) != 1:
            raise UsageError(f"{where}: expected one line {marker!r}, found {count}")
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise UsageError(f"{where}: {END!r} stands before {BEGIN!r}")
    return f"{before}{BEGIN}\n{markdown}{END}{after}"


def write_report(readme: Path, report: Report) -> None:
    """Put the report between the markers of a README."""
    text = with_report(readme.read_text(), report.markdown(), str(readme))
    write_atomically(readme, text.encode())
