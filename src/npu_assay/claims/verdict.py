"""Judge an archive: every rule, all findings, one verdict."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.claims.emulation import sign_of_emulation
from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.claims.published import RULES_OF_PIPELINE
from npu_assay.claims.rule import apply_rules, without_root
from npu_assay.claims.rules.integrity import IntegrityRule
from npu_assay.claims.rules.shards import ShardsRule
from npu_assay.claims.shards import cases_of_shards, in_shard
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive, special_files
from npu_assay.evidence.merged.part import shard_folders

_EXIT_CODES = {Result.PASS: 0, Result.FAIL: 1, Result.INCONCLUSIVE: 3}
_VERDICT = "verdict/1"
_MANIFEST = (Evidence("manifest.json"),)


@dataclass(frozen=True)
class Verdict:
    """What verify says of an archive."""

    mode: Mode
    emulated: bool
    result: Result
    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.result]

    @property
    def marks(self) -> tuple[str, ...]:
        """What it has to say before its result: EMULATED, LIMITED."""
        marks = (("EMULATED", self.emulated), ("LIMITED", self.mode is Mode.LIMITED))
        return tuple(mark for mark, on in marks if on)

    @property
    def own_mode(self) -> Mode:
        """The archive's own, as `own_mode` finds it: the signs have been looked for already."""
        return Mode.EMULATED if self.emulated else Mode.FORMAL

    @property
    def line(self) -> str:
        """One line; an emulated or limited verdict says so, and what it is worth."""
        counts = ", ".join(
            f"{number} {result}"
            for result in Result
            if (number := sum(finding.result is result for finding in self.findings))
        )
        limited = ": not the published result" if self.marks else ""
        worth = ": no evidence about an NPU" if self.emulated else limited
        return f"verdict: {' '.join([*self.marks, self.result])} ({counts}){worth}"

    def with_findings(self, more: Iterable[Finding]) -> "Verdict":
        """The verdict that takes these into account too."""
        return _conclude(self.mode, self.emulated, [*self.findings, *more])


def own_mode(root: Path) -> Mode:
    """The mode in which derived files judge an archive: emulated at any sign of it, else formal."""
    archive = Archive(root.absolute())
    if special_files(root):  # never opened
        return Mode.FORMAL
    if archive.is_merged:
        modes = {own_mode(folder) for folder in shard_folders(archive)}
        return Mode.EMULATED if Mode.EMULATED in modes else Mode.FORMAL
    try:
        why = sign_of_emulation(Case(archive, Mode.FORMAL))
        return Mode.FORMAL if why is None else Mode.EMULATED
    except AssayError:
        return Mode.FORMAL


def verify(root: Path, mode: Mode, checkout: Checkout = OWN, before: Verdict | None = None) -> Verdict:
    """Judge the archive at root by the rules and a checkout's data. Raises UsageError where there is none.

    `before`: a verdict in another mode, so that not every file has to be hashed again.
    """
    archive = Archive(root.absolute())
    if archive.is_merged:
        return _verify_merged(Case(archive, mode, checkout))
    if not (archive.manifest.exists() or archive.sums.exists()):
        raise UsageError(f"{root}: no manifest.json and no SHA256SUMS; name the folder of a run archive")
    return _verify_run(Case(archive, mode, checkout), before)


def _verify_merged(case: Case) -> Verdict:
    """Judge every shard by its pipeline's rules, and whether they are one run."""
    findings = apply_rules([IntegrityRule()], case)
    if special_files(case.archive.root):
        return _conclude(case.mode, False, findings)
    findings += apply_rules([ShardsRule()], case)
    shards = {folder: _verify_run(shard) for folder, shard in cases_of_shards(case).items()}
    for folder, verdict in shards.items():
        told = [in_shard(finding, folder) for finding in verdict.findings]
        if case.mode is Mode.FORMAL and verdict.emulated:  # the refusal is all that is said, as of one run
            return _conclude(case.mode, True, told)
        findings += told
    return _conclude(case.mode, any(verdict.emulated for verdict in shards.values()), findings)


def _verify_run(case: Case, before: Verdict | None = None) -> Verdict:
    root, mode = case.archive.root, case.mode
    findings = [] if before is None else [one for one in before.findings if one.rule == IntegrityRule().id]
    findings = findings or apply_rules([IntegrityRule()], case)
    if special_files(root):  # pipes, links out of the archive: named by the integrity rule, and never opened
        return _conclude(mode, False, findings)
    try:
        why = sign_of_emulation(case)
    except AssayError as error:  # without a manifest nothing but the checksums can be judged
        unreadable = Finding(_VERDICT, Result.FAIL, without_root(str(error), root), _MANIFEST)
        return _conclude(mode, False, [*findings, unreadable])
    emulated = why is not None
    if mode is Mode.FORMAL and emulated:
        refusal = f"the run was emulated ({why}); formal mode judges runs on an NPU, use --mode emulated"
        return _conclude(mode, emulated, [Finding(_VERDICT, Result.FAIL, refusal)])
    if mode is Mode.EMULATED and not emulated:
        refusal = "the run was not emulated; use --mode formal or --mode limited"
        findings.append(Finding(_VERDICT, Result.FAIL, refusal))
    if emulated and case.manifest.device.kind != "emulated":
        contradiction = f"manifest.json says device kind {case.manifest.device.kind}, but {why}"
        findings.append(Finding(_VERDICT, Result.FAIL, contradiction, _MANIFEST))
    rules = RULES_OF_PIPELINE.get(case.manifest.pipeline.name)
    if rules is None:
        unknown = f"no published result is known for pipeline {case.manifest.pipeline.name}"
        findings.append(Finding(_VERDICT, Result.INCONCLUSIVE, unknown, _MANIFEST))
    else:
        findings += apply_rules(rules, case)
    return _conclude(mode, emulated, findings)


def _conclude(mode: Mode, emulated: bool, findings: list[Finding]) -> Verdict:
    results = {finding.result for finding in findings}
    worst = next((result for result in (Result.FAIL, Result.INCONCLUSIVE) if result in results), None)
    # A verdict of nothing but "not applicable" has judged nothing.
    result = worst or (Result.PASS if Result.PASS in results else Result.INCONCLUSIVE)
    return Verdict(mode, emulated, result, tuple(findings))
