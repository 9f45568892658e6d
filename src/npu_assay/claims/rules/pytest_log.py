"""What pytest itself prints into a stage's log: its beginning, how many tests there are, its last line, and
all that turns red in between.

The words are those of `_pytest/terminal.py`, read in 8.3 and 9.2.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.claims.case import Case, LogLine
from npu_assay.claims.findings import Evidence

_COUNT = (
    r"(\d{1,9}) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)"
)
#: `===== 9 passed, 2 warnings in 0.77s =====`; a line of nothing else is a summary line.
_SUMMARY = re.compile(
    rf"=* ?((?:{_COUNT}(?:, )?){{1,12}}|no tests ran)"
    r" in (\d{1,9}(?:\.\d{1,9})?)s(?: \([\d:]{1,20}\))? ?=*"
)
_BEGINS = re.compile(r"=+ test session starts =+")
_COLLECTED = re.compile(r"(?:collecting \.\.\. )?collected (\d{1,9}) items?(?: / .{0,200})?")
#: A line of the last section, of the sections before it, and of a session that was cut off.
_RED = re.compile(
    r"(?:FAILED|ERROR) \S{1,2000}?\.py(?:::| - |$)|=+ (?:FAILURES|ERRORS) =+$|INTERNALERROR>|!{3,} .* !{3,}$"
)
#: With -v a test's outcome ends its line. With -s other output may stand before it, and the name above.
_TEST = re.compile(r"\S{1,2000}?\.py::|(?:FAILED|ERROR)\b")
_OUTCOME = re.compile(r"(?:^| )(?:FAILED|ERROR)(?: +\[ {0,2}\d{1,3}%\]$|\([A-Za-z_]|$)")
#: Every line that is read has one of these in one piece, whatever its colours.
_WORDS = ("test session starts", "collected ", " in ", "FAILED", "ERROR", "FAILURES", "!!!")

#: Not "deselected": a test that was left out is one that did not pass.
_HARMLESS = ("passed", "warning", "warnings", "subtests passed")
_NO_TESTS = ("warning", "warnings", "subtests passed")
_ERRORS = ("error", "errors", "rerun")
_RED_COUNTS = ("failed", "error", "errors")


@dataclass(frozen=True)
class Summary:
    """The counts of a summary line."""

    counts: dict[str, int]
    seconds: float
    text: str
    evidence: Evidence

    @property
    def passed(self) -> int:
        return self.counts.get("passed", 0)

    @property
    def not_passed(self) -> dict[str, int]:
        """What is neither pass nor harmless: failed, error, skipped, deselected, xfailed, xpassed, rerun."""
        return {word: count for word, count in self.counts.items() if word not in _HARMLESS}

    @property
    def red(self) -> bool:
        """Whether pytest exits with 1 for it."""
        return any(self.counts.get(word) for word in _RED_COUNTS)

    @property
    def tests(self) -> int | None:
        """How many tests it speaks of; None where errors keep that from being known."""
        if any(self.counts.get(word) for word in _ERRORS):
            return None
        return sum(count for word, count in self.counts.items() if word not in _NO_TESTS)


@dataclass(frozen=True)
class Collected:
    """How many tests pytest found, those that it then left out among them."""

    tests: int
    evidence: Evidence


@dataclass(frozen=True)
class PytestLog:
    """All that stands in one log."""

    begins: tuple[Evidence, ...]
    collected: tuple[Collected, ...]
    red: tuple[LogLine, ...]
    summaries: tuple[Summary, ...]

    @property
    def summary(self) -> Summary | None:
        """The last summary line, or None."""
        return self.summaries[-1] if self.summaries else None


@dataclass(frozen=True)
class Problem:
    """Why a log is not that of one good session."""

    message: str
    evidence: tuple[Evidence, ...]


#: Lines that are kept, and places that a message names.
_MOST, _SHOWN = 1000, 5


def read_pytest_log(case: Case, stage: str) -> PytestLog:
    """Read a stage's log. Raises UsageError when it can't be read."""
    begins: list[Evidence] = []
    collected: list[Collected] = []
    red: list[LogLine] = []
    summaries: list[Summary] = []
    for line in case.log_lines(stage, *_WORDS):
        text = line.text.strip()
        if _BEGINS.fullmatch(text):
            begins.append(line.evidence)
        elif match := _COLLECTED.fullmatch(text):
            collected.append(Collected(int(match[1]), line.evidence))
        elif match := _SUMMARY.fullmatch(text):
            counts = {word: int(count) for count, word in re.findall(_COUNT, match[1])}
            summaries.append(Summary(counts, float(match[4]), text.strip(" ="), line.evidence))
        elif _RED.match(text) or (_TEST.match(text) and _OUTCOME.search(text)):
            red.append(line)
        if len(begins) + len(collected) + len(red) + len(summaries) > _MOST:
            break  # far more than one session, which is found below
    return PytestLog(tuple(begins), tuple(collected), tuple(red), tuple(summaries))


def problems_of(log: PytestLog, exit_code: int | None, seconds: float | None) -> Iterator[Problem]:
    """Whatever makes the log another than that of one session which ended well.

    `exit_code` and `seconds` are the stage's, None where they are not known.
    """
    if len(log.begins) != 1:
        yield Problem(f"{len(log.begins)} lines say that a session starts, expected one", log.begins[:_SHOWN])
    for line in log.red:
        yield Problem(f"not a line of a session that passed: {line.text.strip()[:200]!r}", (line.evidence,))
    if len(log.collected) != 1:
        places = tuple(collected.evidence for collected in log.collected[:_SHOWN])
        yield Problem(f"{len(log.collected)} lines say how many tests were collected, expected one", places)
    if log.summary is None:
        yield Problem("no summary line of pytest in the log", ())
    else:
        yield from _problems_of_summary(log, log.summary, exit_code, seconds)


def _problems_of_summary(
    log: PytestLog, summary: Summary, exit_code: int | None, seconds: float | None
) -> Iterator[Problem]:
    for other in log.summaries[:-1]:
        yield Problem(f"an earlier summary line: {other.text}", (other.evidence,))
    for collected in log.collected:
        if summary.tests not in (None, collected.tests):
            places = (collected.evidence, summary.evidence)
            yield Problem(f"{collected.tests} tests were collected, but {summary.text}", places)
    order = (*log.begins, *(collected.evidence for collected in log.collected), summary.evidence)
    lines = [place.line or 0 for place in order]
    if lines != sorted(lines):
        yield Problem("expected the session's beginning, its number of tests and its summary in order", order)
    if (exit_code == 0 and summary.red) or (exit_code == 1 and summary.tests and not summary.red):
        yield Problem(f"the stage's exit code is {exit_code}, but {summary.text}", (summary.evidence,))
    if seconds is not None and summary.seconds > seconds + 1:  # both are rounded, by two clocks
        message = f"the session took {summary.seconds} s, all of the stage {seconds} s"
        yield Problem(message, (summary.evidence,))
