"""Every byte of the archive is as it was sealed."""

from collections.abc import Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.archive import check, read_sums
from npu_assay.sums import parse_sums, render_sums


class IntegrityRule(Rule):
    """SHA256SUMS covers exactly the files that are there, and all match."""

    name = "integrity"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        sums = Evidence("SHA256SUMS")
        discrepancies = check(case.archive)
        for discrepancy in discrepancies:
            yield self.failed(str(discrepancy), Evidence(discrepancy.name))
        # A hex digit in capitals or a binary marker means the same to sha256sum; here it is a changed byte.
        data = read_sums(case.archive)
        listed = parse_sums(data, str(case.archive.sums))
        if render_sums(listed) != data:
            yield self.failed("SHA256SUMS: not byte for byte as npu-assay writes it", sums)
        elif not discrepancies:
            yield self.passed(f"{len(listed)} files match SHA256SUMS", sums)
