"""A file that a run was made from: the archive's copy, the manifest's word on it, and the published one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.digest import sha256_of


@dataclass(frozen=True)
class PublishedInput:
    """One file of inputs/."""

    copy: Path
    place: Evidence
    """Of the copy."""
    sha256: str
    """By the manifest."""
    said: Evidence
    """Where the manifest says so."""
    published: Path
    """This checkout's."""

    def judge(self, rule: Rule) -> Iterator[Finding]:
        """The copy is there and is what the manifest says: else a failure. It is the published one: else what
        ran is not what this checkout knows, and nobody here can say what that is worth.
        """
        if not self.copy.is_file():
            yield rule.failed(f"no {self.place}: nobody knows what the run was made from", self.said)
            return
        found = sha256_of(self.copy)
        if found != self.sha256:
            yield rule.failed(
                f"{self.place} is {found}, the manifest says {self.sha256}", self.place, self.said
            )
            return
        where = f"{self.published.parent.parent.name}/{self.published.parent.name}/{self.published.name}"
        try:
            own = sha256_of(self.published)
        except OSError:
            yield rule.inconclusive(
                f"{self.place} is {found}; this checkout has no {where} to hold it against", self.place
            )
            return
        if found == own:
            yield rule.passed(f"{self.place} is this checkout's {where}, {found}", self.place, self.said)
        else:
            yield rule.inconclusive(
                f"{self.place} is {found}, this checkout's {where} is {own}: judge it with the checkout that"
                " it was made with, or compare the two and take the archive's for yours",
                self.place,
                self.said,
            )
