"""A verdict as text, JSON or JUnit."""

import json

from npu_assay.claims.findings import Finding, Result
from npu_assay.claims.verdict import Verdict
from npu_assay.claims.verify_report import VerifyReport
from npu_assay.evidence.junit import ReportCase, render_junit
from npu_assay.printable import printable

_BEST_FIRST = (Result.PASS, Result.NOT_APPLICABLE, Result.INCONCLUSIVE, Result.FAIL)


def as_text(verdict: Verdict) -> str:
    """One line a finding, the worst ones next to the verdict, which is last: a terminal shows the end."""
    lines = []
    for finding in sorted(verdict.findings, key=lambda finding: _BEST_FIRST.index(finding.result)):
        places = f" [{', '.join(str(place) for place in finding.evidence)}]" if finding.evidence else ""
        lines.append(f"{finding.result:<14} {finding.rule:<18} {printable(finding.message + places)}")
        lines += [f"    {line}" for line in finding.traceback.splitlines()]
    return "\n".join([*lines, verdict.line])


def as_json(verdict: Verdict) -> str:
    """A document with `schema_version`; schemas/verify.schema.json says what is in it."""
    # Not pydantic's own writer: names of files that are no UTF-8 are text with surrogates, which it refuses.
    return json.dumps(VerifyReport.of(verdict).model_dump(), indent=2)


def as_junit(verdict: Verdict) -> str:
    """One testcase a finding; an inconclusive one is an error."""
    return render_junit(
        f"npu-assay verify ({verdict.mode})", [_case(finding) for finding in verdict.findings]
    )


def _case(finding: Finding) -> ReportCase:
    name = f"{finding.rule}: {printable(finding.message)}"
    message = f"{printable(finding.message)} {finding.traceback}".strip()
    match finding.result:
        case Result.PASS:
            return ReportCase(name)
        case Result.FAIL:
            return ReportCase(name, failure=message)
        case Result.INCONCLUSIVE:
            return ReportCase(name, error=message)
        case Result.NOT_APPLICABLE:
            return ReportCase(name, skipped=message)
