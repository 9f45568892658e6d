"""Test stages, counted again from the raw log and from the JUnit cases."""

from collections.abc import Iterator, Sequence

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.pytest_summary import SUMMARY_HOLDS, find_summary
from npu_assay.evidence.junit import Outcome, read_pytest_junit


class PytestRule(Rule):
    """Tests were run, all passed, none was skipped or expected to fail; log and JUnit agree."""

    name = "tests"
    version = 1

    def __init__(self, stages: Sequence[str]) -> None:
        self._stages = stages

    def check(self, case: Case) -> Iterator[Finding]:
        for stage in self._stages:
            if case.was_run(stage):
                yield from self._judge(case, stage)
            else:
                yield self.stage_not_run(stage)

    def _judge(self, case: Case, stage: str) -> Iterator[Finding]:
        junit = Evidence(f"stages/{stage}.junit.xml")
        summary = find_summary(case.log_lines(stage, SUMMARY_HOLDS))
        if summary is None:
            yield self.failed(f"{stage}: no summary line of pytest in the log", case.log_of(stage))
            return
        cases = read_pytest_junit(case.archive.stage_junit(stage))
        bad = [test for test in cases if test.outcome is not Outcome.PASSED]
        for test in bad:
            yield self.failed(f"{stage}: {test.name} {test.outcome}", junit)
        if summary.not_passed:
            yield self.failed(f"{stage}: {summary.text}", summary.evidence)
        if not summary.passed or not cases:
            yield self.failed(f"{stage}: no test passed: {summary.text}", summary.evidence, junit)
        passed = len(cases) - len(bad)
        if passed != summary.passed:
            yield self.failed(
                f"{stage}: {summary.passed} passed by the log, {passed} by JUnit", summary.evidence, junit
            )
        elif passed and not bad and not summary.not_passed:
            yield self.passed(f"{stage}: {summary.text}", summary.evidence, junit)
