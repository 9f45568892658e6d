"""ruff and compileall, from their raw logs."""

from collections.abc import Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule


class RuffRule(Rule):
    """ruff looked at files and found nothing wrong in them: its log is what it prints then, and nothing else.

    Warnings come before that line. One of them is "No Python files found", with the same line and exit code 0
    after it: so whatever else stands in the log is no clean run.
    """

    name = "ruff"
    version = 2
    stage = "ruff"
    _GOOD = "All checks passed!"

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self.stage):
            yield self.stage_not_run(self.stage)
            return
        good = False
        for line in case.log_lines(self.stage):
            if line.text == self._GOOD and not good:
                good = True
            else:
                yield self.failed(
                    f"expected {self._GOOD!r} once and nothing else, found {line.text!r}", line.evidence
                )
                return
        if good:
            yield self.passed(self._GOOD, Evidence(str(case.log_of(self.stage)), 1))
        else:
            yield self.failed(f"expected {self._GOOD!r}, found nothing", case.log_of(self.stage))


class CompileallRule(Rule):
    """compileall had nothing to say: its log is empty."""

    name = "compileall"
    version = 1
    stage = "compileall"

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self.stage):
            yield self.stage_not_run(self.stage)
            return
        if size := case.log_size(self.stage):
            yield self.failed(f"expected a log of 0 bytes, found {size}", case.log_of(self.stage))
        else:
            yield self.passed("the log has 0 bytes", case.log_of(self.stage))
