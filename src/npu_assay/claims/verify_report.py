"""What `npu-assay verify --format json` prints; ci/schemas writes its published schema."""

from typing import Literal

from pydantic import ConfigDict, Field

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Finding, Result
from npu_assay.claims.verdict import Verdict
from npu_assay.printable import printable
from npu_assay.strict import Strict


class _Printed(Strict):
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class ReportedFinding(_Printed):
    """One thing that a rule found out."""

    rule: str = Field(description="name and version, such as `integrity/1`")
    result: Result
    message: str
    evidence: tuple[str, ...] = Field(description="files of the archive, with `:<line>` where one is meant")
    traceback: str = Field(description="of an error in the rule itself; else empty")

    @classmethod
    def of(cls, finding: Finding) -> "ReportedFinding":
        return cls(
            rule=finding.rule,
            result=finding.result,
            message=finding.message,
            evidence=tuple(printable(str(place)) for place in finding.evidence),
            traceback=finding.traceback,
        )


class VerifyReport(_Printed):
    """`npu-assay verify --format json`"""

    schema_version: Literal[1] = 1
    mode: Mode
    emulated: bool = Field(description="whether there is a sign of an emulated NPU; then it is no evidence")
    verdict: Result
    line: str = Field(description="the verdict in one line, as the text format ends")
    findings: tuple[ReportedFinding, ...]

    @classmethod
    def of(cls, verdict: Verdict) -> "VerifyReport":
        return cls(
            mode=verdict.mode,
            emulated=verdict.emulated,
            verdict=verdict.result,
            line=verdict.line,
            findings=tuple(map(ReportedFinding.of, verdict.findings)),
        )
