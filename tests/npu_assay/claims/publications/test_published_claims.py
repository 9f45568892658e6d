"""The published results: what is said of them, and that no derived figure of theirs could be another."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from planted_publication import claim_of, claims_of, planted
from pydantic import ValidationError

from npu_assay.claims.publications.arithmetic import last_digit
from npu_assay.claims.publications.derivations import Verdict
from npu_assay.claims.publications.files import load_publication, publication_names
from npu_assay.claims.publications.judgement import judge
from npu_assay.claims.publications.model import Place

#: A line a claim: publication, figure, by what, published, recomputed, verdict.
EXPECTED = Path(__file__).with_name("published_claims.tsv")


def test_every_claim_has_the_verdict_that_is_recorded() -> None:
    found = [
        (name, claim.claim, claim.by, claim.published, claim.recomputed or "-", claim.verdict.value)
        for name in publication_names()
        for claim in judge(load_publication(name)).claims
    ]
    assert ["\t".join(row) for row in found] == EXPECTED.read_text().splitlines()


def test_nothing_is_contradicted_that_is_not_known() -> None:
    for name in publication_names():
        report = judge(load_publication(name))
        assert (report.contradictions, report.refused) == ((), ())


def test_the_gain_of_three_switches_is_not_that_of_one() -> None:
    claim = claim_of(planted("dbo-and-kv-bytes"), "best.change", "change")
    assert (claim.published, claim.recomputed) == ("+22.6 %", "+22.587 %")
    assert claim.verdict is claim.known is Verdict.ATTRIBUTED_WRONGLY
    assert claim.note == (
        "put down to enable-dbo, but from baseline to best differ"
        " enable-dbo, flashcomm1, hccl-op-expansion-mode"
    )


def test_gigabytes_of_the_document_are_gibibytes() -> None:
    claim = claim_of(planted("offload-groups"), "group-8-num-1.weights-saved", "weights")
    assert (claim.verdict, claim.recomputed) == (Verdict.AGREES, "0.261503 GiB")
    assert claim.note == "3 layers of 93,595,648 bytes; printed as GB, which would be 0.280787"


def derived() -> Iterator[tuple[str, Place, int]]:
    """Every derived figure of every publication, by each of its ways."""
    for name in publication_names():
        for place in load_publication(name).places:
            for number in range(len(place.figure.derived)):
                yield name, place, number


def another(value: object, within: Decimal | None) -> Any:
    """The value with a digit changed: the last one, or the first where a cross-check is no closer."""
    match value:
        case Decimal():
            step = Decimal((0, (1,), last_digit(value) if within is None else value.adjusted()))
            return int(value + step) if last_digit(value) == 0 else value + step
        case tuple():
            return [*value, 27]
        case str():
            return ("1" if value[0] == "0" else "0") + value[1:]
    raise AssertionError(f"no derived figure is {value!r}")


@pytest.mark.parametrize(
    ("name", "place", "number"),
    [
        pytest.param(name, place, number, id=f"{place}-{place.figure.derived[number].by}-{number}")
        for name, place, number in derived()
    ],
)
def test_a_changed_digit_is_found(name: str, place: Place, number: int) -> None:
    way = place.figure.derived[number]
    key = f"entries/{place.entry}/figures/{place.name}"
    value = place.figure.value
    runs: dict[str, Any] = {}
    if way.by == "median":  # whose runs are not published
        assert isinstance(value, Decimal)
        runs = {f"{key}/runs": [value + 1, value, value / 2]}
    index = [one.by for one in place.figure.derived[:number]].count(way.by)
    good = claims_of(planted(name, runs), str(place), way.by)[index]
    assert good.verdict in (Verdict.AGREES, way.known)
    assert not good.contradicts
    changed = planted(name, runs | {f"{key}/value": another(value, way.within)})
    bad = claims_of(changed, str(place), way.by)[index]
    assert bad.verdict is Verdict.DIFFERS
    assert bad.contradicts


#: Keys of a way that are references.
REFERENCES = ("of", "against", "part", "whole", "tokens", "prompts", "latency")
REFERENCES += ("requests", "first_token", "each_token")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        pytest.param(
            name,
            f"entries/{place.entry}/figures/{place.name}/derived/{number}/{key}",
            id=f"{place}-{number}-{key}",
        )
        for name, place, number in derived()
        for key, value in place.figure.derived[number]
        if key in REFERENCES and isinstance(value, str | tuple)
    ],
)
def test_a_reference_that_leads_nowhere_is_refused(name: str, key: str) -> None:
    _, entry, _, figure, _, number, reference = key.split("/")
    way = planted(name).entries[entry].figures[figure].derived[int(number)]
    nowhere = ["nowhere", "nowhere"] if isinstance(getattr(way, reference), tuple) else "nowhere"
    with pytest.raises(ValidationError, match=f"entries.{entry}.figures.{figure}: derived by {way.by}: no "):
        planted(name, {key: nowhere})
