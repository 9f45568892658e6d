"""A corruption of a good archive is found: by its checksum, and by its meaning once it is sealed again."""

from pathlib import Path

import pytest
from offload_archive import messages

from mutations.families import ALL
from mutations.forged import Forged
from mutations.good import GOOD, Good
from mutations.mutation import Mutation, Sealing
from npu_assay.claims.findings import Finding, Result
from npu_assay.claims.verdict import Verdict, verify
from npu_assay.report.derived import judge


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where each good archive is, by its name."""
    folder = tmp_path_factory.mktemp("good")
    return {good.name: good.make(folder / good.name) for good in GOOD}


@pytest.mark.parametrize("good", GOOD, ids=lambda good: good.name)
def test_no_good_archive_fails(good: Good, archives: dict[str, Path]) -> None:
    verdict = judge(archives[good.name], good.mode, good.checkout)
    assert messages(verdict, Result.FAIL) == messages(verdict, Result.INCONCLUSIVE) == []
    assert verdict.result is Result.PASS


#: Corruptions that no rule finds yet, a line each.
NOT_YET = Path(__file__).with_name("not_yet.txt").read_text().splitlines()
CASES = [
    pytest.param(good, mutation, id=f"{good.name}: {family}: {mutation.name}")
    for good in GOOD
    for family, mutations in ALL.items()
    for mutation in mutations
    if good.kind in mutation.kinds and f"{family}: {mutation.name}" not in NOT_YET
]


@pytest.mark.parametrize(("good", "mutation"), CASES)
def test_a_corruption_is_found_as_it_is_and_when_it_is_sealed_again(
    good: Good, mutation: Mutation, archives: dict[str, Path], tmp_path: Path
) -> None:
    forged = Forged.of(archives[good.name], tmp_path / "run", good.checkout)
    mutation.change(forged)

    look = judge if mutation.as_is == "derived" else verify  # which has no reports to derive again
    as_is = look(forged.root, good.mode, good.checkout)
    betrayed = _findings(as_is, mutation.as_is, as_is.result)
    assert betrayed, f"{mutation.as_is} does not find it: {as_is.line}"
    assert as_is.result in (Result.FAIL, mutation.result)
    if mutation.names is not None:
        assert mutation.names in {place.file for finding in betrayed for place in finding.evidence}

    if mutation.sealing is Sealing.ALL:
        forged.seal()
    elif mutation.sealing is Sealing.SUMS:
        forged.seal_sums()
    elif mutation.sealing is Sealing.DERIVED:
        forged.derive()
    sealed = judge(forged.root, mutation.mode or good.mode, good.checkout)
    found = _findings(sealed, mutation.rule, mutation.result)
    assert found, f"{mutation.rule} does not find it: {sealed.line} {messages(sealed, Result.FAIL)}"
    assert sealed.result is (Result.FAIL if _fails(sealed) else mutation.result)
    if mutation.sealing is Sealing.ALL and sealed.findings[0].rule.startswith("integrity/"):
        assert not _findings(sealed, "integrity", Result.FAIL), "a semantic rule has to find it"


def _findings(verdict: Verdict, rule: str, result: Result) -> list[Finding]:
    return [
        finding
        for finding in verdict.findings
        if finding.rule.partition("/")[0] == rule and finding.result is result
    ]


def _fails(verdict: Verdict) -> bool:
    return any(finding.result is Result.FAIL for finding in verdict.findings)


def test_every_corruption_has_a_name_of_its_own() -> None:
    for family, mutations in ALL.items():
        names = [mutation.name for mutation in mutations]
        assert len(set(names)) == len(names), family
    assert sum(map(len, ALL.values())) >= 80
