"""JUnit XML as npu-assay writes it; pytest_junit.py reads what pytest wrote."""

from collections.abc import Iterable
from dataclasses import dataclass

from junit_xml import TestCase as JunitCase
from junit_xml import TestSuite as JunitSuite
from junit_xml import to_xml_report_string


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
