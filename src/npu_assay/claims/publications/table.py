"""Publications as text: a table of claims, and a list of figures."""

from collections.abc import Iterator, Sequence

from npu_assay.claims.publications.derivations import Verdict
from npu_assay.claims.publications.judgement import published
from npu_assay.claims.publications.model import Publication
from npu_assay.claims.publications.report import (
    Claim,
    ClaimsList,
    ClaimsReport,
    ListedFigure,
    ListedPublication,
    PublicationReport,
)

_HEADER = ("claim", "published", "recomputed", "verdict", "note")


def claims_table(report: ClaimsReport) -> str:
    """A table for each publication: claim, published, recomputed, verdict, note. Lines are never cut."""
    return "\n\n".join("\n".join(_publication(one)) for one in report.publications)


def _publication(report: PublicationReport) -> Iterator[str]:
    yield f"{report.result}  {report.name}: {report.title}"
    if report.claims:
        yield from _aligned([_HEADER, *map(_row, report.claims)])
    counts = [
        f"{number} {verdict}"
        for verdict in Verdict
        if (number := sum(claim.verdict is verdict for claim in report.claims))
    ]
    said = ", ".join(counts) or "none"
    yield f"{report.figures} figures, {report.measured} of them as measured; claims: {said}"


def _row(claim: Claim) -> tuple[str, ...]:
    name = f"{claim.claim} by {claim.by}"
    notes = [claim.note]
    if claim.known is claim.verdict:
        notes.insert(0, "known")
    elif claim.known is not None:
        notes.insert(0, f"the file says it is known as {claim.known}")
    note = "; ".join(filter(None, notes))
    return (name, claim.published, claim.recomputed or "-", claim.verdict, note)


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns as wide as they have to be; the last one ends where it ends."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    for *cells, last in rows:
        yield "  ".join(
            [*(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)), last]
        ).rstrip()


def listing(publications: Sequence[Publication]) -> ClaimsList:
    """Every figure of the publications."""
    return ClaimsList(
        publications=tuple(
            ListedPublication(
                name=publication.name,
                result=publication.result,
                title=publication.title,
                figures=tuple(
                    ListedFigure(
                        figure=str(place),
                        published=published(place.figure),
                        where=place.figure.where or publication.entries[place.entry].where,
                        derived=tuple(derivation.by for derivation in place.figure.derived),
                    )
                    for place in publication.places
                ),
            )
            for publication in publications
        )
    )


def names_table(found: ClaimsList) -> str:
    """One line a publication."""
    return "\n".join(
        _aligned(
            [(one.result, one.name, f"{len(one.figures)} figures", one.title) for one in found.publications]
        )
    )


def figures_table(found: ClaimsList) -> str:
    """One line a figure: what is published, from what it follows, and where it stands."""
    header = ("figure", "published", "derived by", "where")
    return "\n\n".join(
        "\n".join(
            [
                f"{one.result}  {one.name}: {one.title}",
                *_aligned(
                    [
                        header,
                        *(
                            (figure.figure, figure.published, ", ".join(figure.derived) or "-", figure.where)
                            for figure in one.figures
                        ),
                    ]
                ),
            ]
        )
        for one in found.publications
    )
