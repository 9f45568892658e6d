"""The verdict in the words that come first, and what it is worth."""

from collections.abc import Mapping
from dataclasses import dataclass

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import Verdict
from npu_assay.evidence.manifest import Manifest
from npu_assay.report.findings import WORST_FIRST
from npu_assay.wording import some

_WORTH = {
    Result.PASS: "Every rule of this pipeline holds, by the raw files of the archive.",
    Result.FAIL: "What this pipeline has to show does not hold, by the raw files of the archive.",
    Result.INCONCLUSIVE: "Something that has to be shown could not be established, so this is no pass.",
}


@dataclass(frozen=True)
class Headline:
    """What nobody may overlook."""

    title: str
    marks: tuple[str, ...]
    """EMULATED, LIMITED."""
    result: Result
    worth: str
    """In a sentence or two."""
    mode: Mode
    counts: Mapping[Result, int]
    """Findings, the worst first."""

    @property
    def words(self) -> str:
        """`EMULATED PASS`."""
        return " ".join([*self.marks, self.result.upper()])


def headline(verdict: Verdict, manifest: Manifest | None) -> Headline:
    """`manifest` is the run's, None where it can't be read."""
    results = [finding.result for finding in verdict.findings]
    return Headline(
        title=_title(manifest) if manifest else "a run archive",
        marks=verdict.marks,
        result=verdict.result,
        worth=f"{_WORTH[verdict.result]}{_limits(verdict)}",
        mode=verdict.mode,
        counts={result: results.count(result) for result in WORST_FIRST if result in results},
    )


def _title(manifest: Manifest) -> str:
    source = manifest.source
    tried = [patch.name for patch in source.patches] or ([] if source.is_locks else [source.given])
    title = f"{manifest.pipeline.name} on {manifest.environment.name}"
    return f"{title}, with {some(tried, 1)}" if tried else title


def _limits(verdict: Verdict) -> str:
    if verdict.emulated:
        return " The NPU was an emulated one: this is no evidence about an NPU."
    if verdict.mode is Mode.LIMITED:
        return " Limited mode judges what is there: this is not the published result."
    return ""
