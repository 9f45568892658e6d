"""The last line of a pytest log, such as `===== 9 passed, 2 warnings in 0.77s =====`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from npu_assay.claims.case import LogLine
from npu_assay.claims.findings import Evidence

#: pytest's own words (`_pytest/terminal.py`, `KNOWN_TYPES`); a line of nothing else is a summary line.
_COUNT = r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)"
_SUMMARY = re.compile(rf"=* ?((?:{_COUNT}(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))? ?=*")
_HARMLESS = ("passed", "deselected", "warning", "warnings", "subtests passed")


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
        """What is neither a pass nor harmless: failed, error, skipped, xfailed, xpassed, rerun."""
        return {word: count for word, count in self.counts.items() if word not in _HARMLESS}


def find_summary(lines: Sequence[LogLine]) -> Summary | None:
    """The last summary line of a log, or None."""
    for line in reversed(lines):
        if match := _SUMMARY.fullmatch(line.text.strip()):
            counts = {word: int(count) for count, word in re.findall(_COUNT, match[1])}
            return Summary(counts, line.text.strip(" ="), line.evidence)
    return None
