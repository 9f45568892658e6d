"""What a family of checks is: it recomputes a figure, and says what else is to be said of the claim."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, TypeVar

from npu_assay.claims.publications.derivations import Verdict
from npu_assay.claims.publications.model import Entry, Place, Publication
from npu_assay.claims.publications.units import Unit, convert
from npu_assay.claims.publications.values import Value

D = TypeVar("D")


@dataclass(frozen=True)
class Case:
    """A figure to be recomputed, and the document that it is of."""

    publication: Publication
    place: Place

    @property
    def entry(self) -> Entry:
        return self.publication.entries[self.place.entry]

    def find(self, reference: str) -> Place:
        """The figure that a reference means; that there is one was checked when the file was read."""
        return self.publication.find(reference, self.place.entry)

    def number(self, reference: str) -> Decimal:
        """The number that a reference means, in its own unit."""
        value = self.find(reference).figure.value
        assert isinstance(value, Decimal)  # checked when the file was read
        return value

    def number_in(self, reference: str, unit: Unit | None) -> Decimal:
        """The number that a reference means, in that unit. Raises ValueError where it has none such."""
        return convert(self.number(reference), self.find(reference).figure.unit, unit)


@dataclass(frozen=True)
class Remark:
    """Something about a claim that is not in its number; `verdict` where it decides."""

    note: str
    verdict: Verdict | None = None


class Check(ABC, Generic[D]):
    """A family: how its figures are recomputed, from which entries, and what to remark."""

    @abstractmethod
    def recompute(self, derivation: D, case: Case) -> Value | None:
        """The figure, in its own unit; None where the document does not have what it takes."""

    def compared(self, derivation: D, case: Case) -> Iterator[str]:
        """Entries that the figure's own is held against: one environment, one workload."""
        yield from ()

    def remarks(self, derivation: D, case: Case) -> Iterator[Remark]:
        """What is to be said besides, where the number is right."""
        yield from ()
