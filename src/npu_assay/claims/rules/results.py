"""Every row of results is one that a stage's log says was written, by its sha256."""

import hashlib
import re
from collections.abc import Iterator

from npu_assay.claims.case import MOST_OF_A_ROW, Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.bounded import chunks_of
from npu_assay.evidence.lines import lines_of

_ROW = "row: "
#: As suites/support/stage.py prints it.
_LINE = re.compile(r"row: (results/[A-Za-z0-9._-]{1,100}) sha256 ([0-9a-f]{64})")


class ResultsRule(Rule):
    """results/ has just the rows that stages wrote, byte for byte and in that order."""

    name = "results"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        logged: dict[str, list[tuple[str, Evidence]]] = {}
        for stage in case.manifest.stages:
            if case.archive.stage_log(stage.name).is_file():
                for line in case.log_lines(stage.name, _ROW):
                    if found := _LINE.fullmatch(line.text.strip()):
                        logged.setdefault(found[1], []).append((found[2], line.evidence))
        present = {f"results/{path.name}" for path in case.archive.results.glob("*") if path.is_file()}
        for name in sorted(present | logged.keys()):
            yield self._judge(case, name, logged.get(name, []), name in present)
        if not present and not logged:
            yield self.not_applicable("no stage left rows of results")

    def _judge(self, case: Case, name: str, logged: list[tuple[str, Evidence]], present: bool) -> Finding:
        file = Evidence(name)
        if not present:
            return self.failed(
                f"{name}: missing, but the log says that {len(logged)} rows were written", file
            )
        number = 0
        for number, row in enumerate(_hashes(case, name), start=1):
            if number > len(logged):
                return self.failed(f"{name}: row {number} is in no stage's log", Evidence(name, number))
            written, place = logged[number - 1]
            if row != written:
                message = f"{name}: row {number} is not what the stage wrote"
                return self.failed(message, Evidence(name, number), place)
        if number < len(logged):
            message = f"{name}: {number} rows, the log says that {len(logged)} were written"
            return self.failed(message, file, logged[number][1])
        return self.passed(f"{name}: {number} rows, as they were written", file)


def _hashes(case: Case, name: str) -> Iterator[str]:
    """The sha256 of each row; of one that is longer than rows may be, of its beginning."""
    for line in lines_of(chunks_of(case.archive.root / name, name), most=MOST_OF_A_ROW):
        yield hashlib.sha256(line.data).hexdigest()
