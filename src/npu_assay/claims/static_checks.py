"""ruff and compileall, from their raw logs."""

from collections.abc import Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Finding
from npu_assay.claims.rule import Rule


class RuffRule(Rule):
    """ruff looked at files and found nothing wrong in them."""

    name = "ruff"
    version = 1
    stage = "ruff"
    _GOOD = "All checks passed!"
    #: ruff says this, then "All checks passed!", and exits 0.
    _VACUOUS = "No Python files found"

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self.stage):
            yield self.stage_not_run(self.stage)
            return
        lines = [line for line in case.log_lines(self.stage) if line.text.strip()]
        vacuous = [line for line in lines if self._VACUOUS in line.text]
        if vacuous:
            yield self.failed(f"ruff checked nothing: {vacuous[0].text!r}", vacuous[0].evidence)
        elif not lines or lines[-1].text.strip() != self._GOOD:
            last = lines[-1].text if lines else ""
            yield self.failed(
                f"expected the log to end in {self._GOOD!r}, found {last!r}", case.log_of(self.stage)
            )
        else:
            yield self.passed(self._GOOD, lines[-1].evidence)


class CompileallRule(Rule):
    """compileall had nothing to say: its log is empty."""

    name = "compileall"
    version = 1
    stage = "compileall"

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self.stage):
            yield self.stage_not_run(self.stage)
            return
        if size := len(case.log(self.stage)):
            yield self.failed(f"expected a log of 0 bytes, found {size}", case.log_of(self.stage))
        else:
            yield self.passed("the log has 0 bytes", case.log_of(self.stage))
