"""JUnit XML: read what pytest wrote, write what npu-assay found."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

from junit_xml import TestCase as JunitCase
from junit_xml import TestSuite as JunitSuite
from junit_xml import to_xml_report_string

from npu_assay.errors import UsageError


class Outcome(StrEnum):
    """What pytest says of one test, worst last."""

    PASSED = "passed"
    XFAILED = "xfailed"
    SKIPPED = "skipped"
    FAILED = "failed"
    ERROR = "error"


_WORST_FIRST = tuple(reversed(Outcome))
_OUTCOME_OF_TAG = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}


@dataclass(frozen=True)
class TestCase:
    """One test of a pytest run."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    name: str
    outcome: Outcome
    message: str = ""


def read_pytest_junit(path: Path) -> list[TestCase]:
    """The tests of a JUnit file, one entry a test.

    The counts in the file's attributes are not used: a test whose teardown fails stands there twice, and
    `tests=` counts it differently (pytest issues 3850 and 5891). Entries with one name are one test, with its
    worst outcome. Raises UsageError for a missing or malformed file.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from error
    except (ElementTree.ParseError, LookupError) as error:  # LookupError: an encoding that nobody knows
        raise UsageError(f"{path}: not XML ({error})") from error
    if root.tag not in ("testsuites", "testsuite"):
        raise UsageError(f"{path}: expected JUnit's <testsuites>, found <{root.tag}>")
    worst: dict[str, TestCase] = {}
    for node in root.iter("testcase"):
        case = _case_of(node)
        known = worst.get(case.name)
        if known is None or _WORST_FIRST.index(case.outcome) < _WORST_FIRST.index(known.outcome):
            worst[case.name] = case
    return list(worst.values())


def _case_of(node: ElementTree.Element) -> TestCase:
    name = "::".join(part for part in (node.get("classname"), node.get("name")) if part)
    for tag, outcome in _OUTCOME_OF_TAG.items():
        found = node.find(tag)
        if found is not None:
            if found.get("type") == "pytest.xfail":  # pytest writes an expected failure as a kind of skip
                outcome = Outcome.XFAILED
            return TestCase(name, outcome, found.get("message") or "")
    return TestCase(name, Outcome.PASSED)


@dataclass(frozen=True)
class ReportCase:
    """One testcase that npu-assay writes; at most one of `failure`, `error`, `skipped` holds a message."""

    name: str
    seconds: float = 0.0
    failure: str = ""
    error: str = ""
    skipped: str = ""


def render_junit(suite: str, cases: Iterable[ReportCase]) -> str:
    """JUnit XML with one testcase a case."""
    written = []
    for case in cases:
        entry = JunitCase(case.name, classname=suite, elapsed_sec=case.seconds)
        if case.failure:
            entry.add_failure_info(case.failure)
        if case.error:
            entry.add_error_info(case.error)
        if case.skipped:
            entry.add_skipped_info(case.skipped)
        written.append(entry)
    return str(to_xml_report_string([JunitSuite(suite, written)]))
