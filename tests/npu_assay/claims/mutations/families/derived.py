"""What is derived from the sealed files, and is derived again by verify: the statement and the reports."""

from collections.abc import Callable

from mutations.forged import Forged, Json
from mutations.mutation import EMULATED, Mutation, Sealing
from npu_assay.claims.findings import Result

STATEMENT = "statement.intoto.json"


def _changed(
    name: str, change: Callable[[Forged], object], result: Result = Result.FAIL, file: str = STATEMENT
) -> Mutation:
    return Mutation(name, change, "derived", result=result, sealing=Sealing.SUMS, names=file, as_is="derived")


def _statement(name: str, edit: Callable[[Json], object], result: Result = Result.FAIL) -> Mutation:
    def change(forged: Forged) -> None:
        forged.edit_json(STATEMENT, edit)

    return _changed(f"a statement: {name}", change, result)


def _annotations(statement: Json) -> Json:
    found: Json = statement["predicate"]["configuration"][0]["annotations"]
    return found


def _failed_stage(statement: Json) -> None:
    predicate = statement["predicate"]
    predicate["failedTests"].append(predicate["passedTests"].pop())


def _other_version(forged: Forged) -> None:
    """Of an npu-assay that nobody has here."""
    forged.edit_json(STATEMENT, lambda statement: statement["predicate"].update(result="FAILED"))
    forged.replace(STATEMENT, "pkg:generic/npu-assay@", "pkg:generic/npu-assay@9.")


MUTATIONS = (
    _changed("the statement dropped", lambda forged: forged.remove(STATEMENT)),
    _changed("a bit of the statement", lambda forged: forged.flip(STATEMENT)),
    _changed("the statement empty", lambda forged: forged.write(STATEMENT, b"")),
    _changed("the statement nested too deep", lambda f: f.write(STATEMENT, b"[" * 100_000)),
    _changed("the statement with a line feed more", lambda forged: forged.append(STATEMENT, b"\n")),
    _changed("the statement of another npu-assay", _other_version, Result.INCONCLUSIVE),
    _statement("another result", lambda s: s["predicate"].update(result="FAILED")),
    _statement("of another archive", lambda s: s["subject"][0]["digest"].update(sha256="0" * 64)),
    _statement("of no archive", lambda s: s.update(subject=[])),
    _statement("a test that failed", _failed_stage),
    _statement("a test that nobody ran", lambda s: s["predicate"]["passedTests"].append("stage/x")),
    _statement("another verdict", lambda s: _annotations(s).update(verdict="verdict: pass")),
    _statement("another predicate", lambda s: s.update(predicateType="https://slsa.dev/provenance/v1")),
    _statement("an unknown key", lambda s: s.update(signed=True)),
    Mutation(
        "a statement: emulated passed off as hardware",
        lambda forged: forged.replace(STATEMENT, '"emulated"', '"hardware"'),
        "derived",
        kinds=(EMULATED,),
        sealing=Sealing.SUMS,
        names=STATEMENT,
        as_is="derived",
    ),
    Mutation(
        "a statement: PASSED of an emulated run",
        lambda forged: forged.replace(STATEMENT, '"WARNED"', '"PASSED"'),
        "derived",
        kinds=(EMULATED,),
        sealing=Sealing.SUMS,
        names=STATEMENT,
        as_is="derived",
    ),
    _changed("a report of nobody", lambda f: f.write("report.md", "# pass\n"), file="report.md"),
)
