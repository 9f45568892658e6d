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
        vacuous = next(case.log_lines(self.stage, self._VACUOUS), None)
        last = None
        for line in case.log_lines(self.stage):
            last = line if line.text.strip() else last
        if vacuous is not None:
            yield self.failed(f"ruff checked nothing: {vacuous.text!r}", vacuous.evidence)
        elif last is None or last.text.strip() != self._GOOD:
            found = "" if last is None else last.text
            yield self.failed(
                f"expected the log to end in {self._GOOD!r}, found {found!r}", case.log_of(self.stage)
            )
        else:
            yield self.passed(self._GOOD, last.evidence)


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
