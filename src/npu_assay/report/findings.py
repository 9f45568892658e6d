"""The findings of a verdict as a report shows them: by rule, the worst first, each with its evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.report.excerpts import Excerpt
from npu_assay.report.places import MOST_PLACES, PROBLEMS, excerpts_of, is_within

#: Findings of one rule that are shown; ten thousand of them are one fault.
MOST_OF_RULE = 100

WORST_FIRST = (Result.FAIL, Result.INCONCLUSIVE, Result.NOT_APPLICABLE, Result.PASS)


@dataclass(frozen=True)
class Place:
    """A piece of evidence."""

    evidence: Evidence
    exists: bool
    """Whether it is a regular file or folder of the archive, so that a link to it leads somewhere."""
    excerpt: Excerpt
    """Around the line, or the end of a log that is a problem as a whole; else empty."""


@dataclass(frozen=True)
class ShownFinding:
    """A finding of the verdict."""

    number: int
    """Its place in the verdict, counted from 1: what links to it are made of."""
    result: Result
    message: str
    places: tuple[Place, ...]
    more_places: int
    """Places that are not shown."""

    @property
    def is_problem(self) -> bool:
        """Whether it keeps the verdict from being a pass."""
        return self.result in PROBLEMS


@dataclass(frozen=True)
class RuleFindings:
    """All findings of a rule, the worst first."""

    rule: str
    """Name and version, such as `integrity/1`."""
    result: Result
    """The worst of them."""
    counts: Mapping[Result, int]
    findings: tuple[ShownFinding, ...]
    left_out: int
    """Findings that are not shown; none of them is worse than those that are."""

    @property
    def problems(self) -> tuple[ShownFinding, ...]:
        return tuple(finding for finding in self.findings if finding.is_problem)

    @property
    def others(self) -> tuple[ShownFinding, ...]:
        """Passes, and what was not applicable."""
        return self.findings[len(self.problems) :]


def by_rule(root: Path, findings: Sequence[Finding]) -> tuple[RuleFindings, ...]:
    """The findings of an archive at root. Reads the lines that they name, and nothing through a link."""
    numbered = sorted(enumerate(findings, start=1), key=lambda pair: (pair[1].rule, _rank(pair[1]), pair[0]))
    rules = [list(group) for _, group in groupby(numbered, key=lambda pair: pair[1].rule)]
    rules.sort(key=lambda group: (_rank(group[0][1]), min(number for number, _ in group)))
    excerpts = excerpts_of(root, (one for group in rules for _, one in group[:MOST_OF_RULE]))
    return tuple(_rule(root, group, excerpts) for group in rules)


def _rank(finding: Finding) -> int:
    return WORST_FIRST.index(finding.result)


def _rule(
    root: Path, numbered: list[tuple[int, Finding]], excerpts: Mapping[Evidence, Excerpt]
) -> RuleFindings:
    results = [finding.result for _, finding in numbered]
    return RuleFindings(
        rule=numbered[0][1].rule,
        result=results[0],
        counts={result: results.count(result) for result in WORST_FIRST if result in results},
        findings=tuple(
            ShownFinding(
                number,
                finding.result,
                finding.message,
                tuple(
                    Place(place, is_within(root, place.file), excerpts.get(place, ()))
                    for place in finding.evidence[:MOST_PLACES]
                ),
                max(0, len(finding.evidence) - MOST_PLACES),
            )
            for number, finding in numbered[:MOST_OF_RULE]
        ),
        left_out=max(0, len(numbered) - MOST_OF_RULE),
    )
