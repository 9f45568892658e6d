"""The archive's junit.xml says what its manifest says."""

from collections.abc import Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.run_junit import render_run_junit

_JUNIT = Evidence("junit.xml")


class RunJunitRule(Rule):
    """junit.xml, which other tools show, is byte for byte what the manifest gives.

    Reads junit.xml and manifest.json. Whether the manifest is right is the affair of all other rules.
    """

    name = "junit"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        wanted = render_run_junit(case.manifest)
        try:
            with case.archive.junit.open("rb") as file:
                found = file.read(len(wanted) + 1)
        except OSError as error:
            yield self.failed(f"junit.xml can't be read ({error.strerror})", _JUNIT)
            return
        if found == wanted:
            yield self.passed("junit.xml is what manifest.json gives", _JUNIT, case.in_manifest("stages"))
            return
        pairs = zip(found.split(b"\n"), wanted.split(b"\n"), strict=False)
        different = [number for number, (one, other) in enumerate(pairs, start=1) if one != other]
        yield self.failed(
            "junit.xml is not what manifest.json gives",
            Evidence("junit.xml", different[0] if different else None),
            case.in_manifest("stages"),
        )
