"""The last line of a pytest log, such as `===== 9 passed, 2 warnings in 0.77s =====`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from npu_assay.claims.case import LogLine
from npu_assay.claims.findings import Evidence

#: pytest's own words (`_pytest/terminal.py`, `KNOWN_TYPES`); a line of nothing else is a summary line.
_COUNT = r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)"
#: A text that every summary line holds in one piece, whatever its colours.
SUMMARY_HOLDS = " in "
_SUMMARY = re.compile(rf"=* ?((?:{_COUNT}(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))? ?=*")
#: Not "deselected": a test that was left out is one that did not pass.
_HARMLESS = ("passed", "warning", "warnings", "subtests passed")


@dataclass(frozen=True)
class Summary:
    """The counts of a summary line."""

    counts: dict[str, int]
    text: str
    evidence: Evidence

    @property
    def passed(self) -> int:
        return self.counts.get("passed", 0)

    @property
    def not_passed(self) -> dict[str, int]:
        """What is neither pass nor harmless: failed, error, skipped, deselected, xfailed, xpassed, rerun."""
        return {word: count for word, count in self.counts.items() if word not in _HARMLESS}


def find_summary(lines: Iterable[LogLine]) -> Summary | None:
    """The last summary line of a log, or None."""
    last = None
    for line in lines:
        if match := _SUMMARY.fullmatch(line.text.strip()):
            counts = {word: int(count) for count, word in re.findall(_COUNT, match[1])}
            last = Summary(counts, line.text.strip(" ="), line.evidence)
    return last
