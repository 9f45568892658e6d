"""What `claims check --json` and `claims list --json` print."""

from typing import Literal

from npu_assay.claims.publications.derivations import Verdict
from npu_assay.strict import Strict


class Claim(Strict):
    """A derived figure, recomputed in one way."""

    claim: str
    """`entry.figure`."""
    by: str
    where: str
    published: str
    recomputed: str | None
    verdict: Verdict
    known: Verdict | None
    """The verdict on a fault of the document that its file knows of."""
    note: str

    @property
    def contradicts(self) -> bool:
        """Whether the document, or what its file knows of it, is wrong in a way that nobody has noted."""
        bad = self.verdict in (Verdict.DIFFERS, Verdict.ATTRIBUTED_WRONGLY)
        return self.verdict is not self.known if bad else self.known is not None


class PublicationReport(Strict):
    """All claims of a publication."""

    name: str
    result: str
    title: str
    figures: int
    measured: int
    """Figures that are taken as they are: nothing in the document says what they follow from."""
    claims: tuple[Claim, ...]

    @property
    def contradictions(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.contradicts)

    @property
    def refused(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.verdict is Verdict.REFUSED)


class ClaimsReport(Strict):
    """What `claims check --json` prints."""

    schema_version: Literal[1] = 1
    contradictions: int
    refused: int
    publications: tuple[PublicationReport, ...]

    @classmethod
    def of(cls, publications: tuple[PublicationReport, ...]) -> "ClaimsReport":
        return cls(
            contradictions=sum(len(one.contradictions) for one in publications),
            refused=sum(len(one.refused) for one in publications),
            publications=publications,
        )


class ListedFigure(Strict):
    """A figure as it is published."""

    figure: str
    published: str
    where: str
    derived: tuple[str, ...]
    """By what."""


class ListedPublication(Strict):
    """A publication and all its figures."""

    name: str
    result: str
    title: str
    figures: tuple[ListedFigure, ...]


class ClaimsList(Strict):
    """What `claims list --json` prints."""

    schema_version: Literal[1] = 1
    publications: tuple[ListedPublication, ...]
