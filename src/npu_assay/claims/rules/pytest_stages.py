"""Test stages, counted again from the raw log and from the JUnit cases."""

from collections.abc import Iterator, Sequence

from npu_assay import __version__
from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.pytest_log import problems_of, read_pytest_log
from npu_assay.claims.suite_tests import compared_with_cpu, functions_of, suite_tests
from npu_assay.evidence.pytest_junit import Outcome, PytestReport, Reason, read_pytest_junit


class PytestRule(Rule):
    """One session, in which all tests of the suite passed and none was skipped; log and JUnit agree.

    Which tests a suite has is data of this checkout (suites/tests.toml), not the run's word.
    """

    name = "tests"
    version = 2

    def __init__(self, stages: Sequence[str]) -> None:
        self._stages = stages

    def check(self, case: Case) -> Iterator[Finding]:
        for stage in self._stages:
            if case.was_run(stage):
                yield from self._judge(case, stage)
            else:
                yield self.stage_not_run(stage)

    def _judge(self, case: Case, stage: str) -> Iterator[Finding]:
        log, record = read_pytest_log(case, stage), case.manifest.stage(stage)
        good = True
        seconds, exit_code = (record.seconds, record.exit_code) if record else (None, None)
        for problem in problems_of(log, exit_code, seconds):
            good = False
            yield self.failed(f"{stage}: {problem.message}", *(problem.evidence or (case.log_of(stage),)))
        junit = Evidence(f"stages/{stage}.junit.xml")
        report = read_pytest_junit(case.archive.stage_junit(stage), junit.file)
        bad = [test for test in report.tests if test.outcome is not Outcome.PASSED]
        for test in bad:
            good = False
            yield self.failed(f"{stage}: {test.name} {test.outcome}", Evidence(junit.file, test.line))
        for finding in [*recounted(self, report, junit.file), *self._departures(case, stage, report)]:
            good = False
            yield finding
        summary = log.summary
        if summary is None:
            return
        if summary.not_passed:
            good = False
            yield self.failed(f"{stage}: {summary.text}", summary.evidence)
        passed = len(report.tests) - len(bad)
        if not summary.passed or not passed:
            good = False
            yield self.failed(f"{stage}: no test passed: {summary.text}", summary.evidence, junit)
        if passed != summary.passed:
            yield self.failed(
                f"{stage}: {summary.passed} passed by the log, {passed} by JUnit", summary.evidence, junit
            )
        elif good:
            yield self.passed(f"{stage}: {summary.text}", summary.evidence, junit)

    def _departures(self, case: Case, stage: str, report: PytestReport) -> Iterator[Finding]:
        """Which tests were run otherwise than the suite of this checkout has them."""
        junit, known = Evidence(f"stages/{stage}.junit.xml"), suite_tests().get(stage)
        if known is None:
            yield self.inconclusive(f"{stage}: which tests its suite has is not known to npu-assay", junit)
            return
        record, version = case.manifest.stage(stage), case.manifest.project.version
        expected = known.expected(record.settings if record else {}, compared_with_cpu(case, stage))
        found = functions_of(test.name for test in report.tests)
        other = "" if version == __version__ else f"; the run's npu-assay is {version}, not {__version__}"
        for name in sorted(expected | found):
            if found[name] == expected[name]:
                continue
            message = f"{stage}: {found[name]} tests of {name}, its suite has {expected[name]}{other}"
            judged = self.failed if found[name] < expected[name] and not other else self.inconclusive
            yield judged(message, junit)


def recounted(rule: Rule, report: PytestReport, file: str, subtests: bool = False) -> Iterator[Finding]:
    """Where a JUnit file does not agree with itself. `subtests`: whether its tests may have any."""
    for mismatch in report.mismatches():
        place = Evidence(file, mismatch.line)
        if mismatch.reason is Reason.SUBTESTS and subtests:
            yield rule.not_applicable(mismatch.message, place)
        elif mismatch.reason is Reason.TEARDOWN:  # the test's error is a finding of its own
            yield rule.inconclusive(mismatch.message, place)
        else:
            yield rule.failed(mismatch.message, place)
