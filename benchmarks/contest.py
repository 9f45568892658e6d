"""Two ways to do the same, in turn, again and again: how many times as much ours takes."""

from collections.abc import Callable
from dataclasses import dataclass

from rates import Spread

#: Does it once and says how much it took: seconds, or bytes.
Attempt = Callable[[], float]


@dataclass(frozen=True)
class Contest:
    """Ours against another, and how much of the other ours may take."""

    name: str
    ours: Attempt
    theirs: Attempt
    most: float | None = None
    """The ratio that is allowed; None for what is only told."""
    unit: str = "s"
    scale: float = 1.0
    """What a figure is divided by to be in `unit`."""


@dataclass(frozen=True)
class Score:
    """What came of a contest."""

    contest: Contest
    ours: Spread
    theirs: Spread
    ratio: Spread
    """Of the two neighbours in a repetition: what slows the machine for a while slows both."""

    @property
    def passed(self) -> bool:
        """Whether the median of the ratios is allowed."""
        return self.contest.most is None or self.ratio.median <= self.contest.most

    def __str__(self) -> str:
        ratio = f"{self.ratio.median:.2f} ({self.ratio.least:.2f} to {self.ratio.most:.2f})"
        allowed = "" if self.contest.most is None else f", at most {self.contest.most:.2f}"
        return f"{self.contest.name}: {ratio}{allowed}{'' if self.passed else ': TOO MUCH'}"


def hold(contest: Contest, repetitions: int) -> Score:
    """Both in turn; who is first changes, so that each as often finds what the other left in caches."""
    pairs: list[tuple[float, float]] = []
    for number in range(repetitions):
        if number % 2:
            theirs, ours = contest.theirs(), contest.ours()
        else:
            ours, theirs = contest.ours(), contest.theirs()
        pairs.append((ours, theirs))
    return Score(
        contest,
        ours=Spread.of([ours for ours, _ in pairs]),
        theirs=Spread.of([theirs for _, theirs in pairs]),
        ratio=Spread.of([ours / theirs for ours, theirs in pairs]),
    )


def table(scores: list[Score]) -> str:
    """A Markdown table."""
    lines = ["| | ours | the other | ratio | at most |", "| --- | --- | --- | --- | --- |"]
    for score in scores:
        most = "-" if score.contest.most is None else f"{score.contest.most:.2f}"
        ratio = f"**{score.ratio.median:.2f}** ({score.ratio.least:.2f} to {score.ratio.most:.2f})"
        ours, theirs = (_figure(side, score.contest) for side in (score.ours, score.theirs))
        lines.append(f"| {score.contest.name} | {ours} | {theirs} | {ratio} | {most} |")
    return "\n".join(lines) + "\n"


def _figure(spread: Spread, contest: Contest) -> str:
    median, least, most = (value / contest.scale for value in (spread.median, spread.least, spread.most))
    return f"{median:.2f} {contest.unit} ({least:.2f} to {most:.2f})"
