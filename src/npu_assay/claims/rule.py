"""Rules: one class a family of claims, with a version that changes when its judgement does."""

import re
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.errors import AssayError

#: Of one rule. An archive of another's making may have a million bad rows.
MOST_FINDINGS = 10_000


class Rule(ABC):
    """A family of claims about an archive. Every rule reports all that it finds, not the first."""

    name: ClassVar[str]
    version: ClassVar[int]

    @abstractmethod
    def check(self, case: Case) -> Iterator[Finding]:
        """Judge the archive. At least one finding; what is raised becomes a failed one."""

    @property
    def id(self) -> str:
        return f"{self.name}/{self.version}"

    def passed(self, message: str, *evidence: Evidence) -> Finding:
        return Finding(self.id, Result.PASS, message, evidence)

    def failed(self, message: str, *evidence: Evidence) -> Finding:
        return Finding(self.id, Result.FAIL, message, evidence)

    def inconclusive(self, message: str, *evidence: Evidence) -> Finding:
        return Finding(self.id, Result.INCONCLUSIVE, message, evidence)

    def not_applicable(self, message: str, *evidence: Evidence) -> Finding:
        return Finding(self.id, Result.NOT_APPLICABLE, message, evidence)

    def stage_not_run(self, stage: str) -> Finding:
        """For a rule about a stage that did not run to its end; the stages rule says what that means."""
        return self.not_applicable(f"stage {stage} was not run to its end")


def apply_rules(rules: Iterable[Rule], case: Case) -> list[Finding]:
    """All findings of all rules. A rule that raises, or finds nothing or far too much, has a failed one."""
    findings: list[Finding] = []
    for rule in rules:
        found: list[Finding] = []
        try:
            for finding in rule.check(case):
                if len(found) == MOST_FINDINGS:
                    found.append(rule.failed(f"more than {MOST_FINDINGS} findings; the others are left out"))
                    break
                found.append(finding)
        except AssayError as error:  # bad input, described for the user
            found.append(rule.failed(str(error)))
        except Exception as error:
            message = f"the rule broke: {type(error).__name__}: {error}"
            found.append(Finding(rule.id, Result.FAIL, message, traceback=traceback.format_exc()))
        findings += found or [rule.failed("the rule found nothing to judge")]
    root = case.archive.root
    return [replace(finding, message=without_root(finding.message, root)) for finding in findings]


def without_root(message: str, root: Path) -> str:
    """The message with names inside of the archive in place of paths: it must not change when that moves."""
    path = rf"(?<![\w./-]){re.escape(str(root.absolute()))}"
    return re.sub(rf"{path}(?![\w./-])", "ARCHIVE", re.sub(rf"{path}/", "", message))
