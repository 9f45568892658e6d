"""From what a figure is derived: one model a family. Their keys are described in model.py."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Discriminator, Field, StringConstraints
from pydantic import Strict as StrictType

from npu_assay.claims.publications.values import Number
from npu_assay.evidence.manifest import Name
from npu_assay.strict import Strict

Reference = Annotated[str, StringConstraints(pattern=r"^([a-z0-9-]+\.)?[a-z0-9-]+$")]
"""`figure`, of the same entry, or `entry.figure`."""


class Verdict(StrEnum):
    """Of a claim, which is a figure by one derivation."""

    AGREES = "agrees"
    DIFFERS = "differs"
    ATTRIBUTED_WRONGLY = "attributed wrongly"
    REFUSED = "refused"
    """Figures are compared that can't be: of two environments or workloads, or of what is no evidence."""
    CANNOT_BE_RECOMPUTED = "cannot be recomputed"


class _Derivation(Strict):
    known: Literal[Verdict.DIFFERS, Verdict.ATTRIBUTED_WRONGLY] | None = None
    """A fault of the document that is known: it is shown, and no news."""
    within: Annotated[Number, Field(gt=0, lt=100)] | None = None
    """Of a cross-check, which is no identity: by how many per cent it may be off. Else it is the rounding."""

    def numbers(self) -> Iterator[str]:
        """References to figures that have to be numbers."""
        yield from ()

    def figures(self) -> Iterator[str]:
        """References to figures of any kind."""
        yield from ()


class Change(_Derivation):
    """Per cent more or less than the same figure of another entry, put down to these switches."""

    by: Literal["change"]
    of: Name
    against: Name
    attributed_to: tuple[str, ...]

    def numbers(self) -> Iterator[str]:
        yield from (self.of, f"{self.against}.{self.of}")


class Difference(_Derivation):
    """Of a figure and that of another entry."""

    by: Literal["difference"]
    of: Name
    against: Name

    def numbers(self) -> Iterator[str]:
        yield from (self.of, f"{self.against}.{self.of}")


class Same(_Derivation):
    """The figure is another one."""

    by: Literal["same"]
    of: Reference

    def figures(self) -> Iterator[str]:
        yield self.of


class Share(_Derivation):
    """Per cent that a part is of the whole."""

    by: Literal["share"]
    part: Reference
    whole: Reference

    def numbers(self) -> Iterator[str]:
        yield from (self.part, self.whole)


class Sum(_Derivation):
    """Of figures, each in a unit that measures the same."""

    by: Literal["sum"]
    of: Annotated[tuple[Reference, ...], Field(min_length=2)]

    def numbers(self) -> Iterator[str]:
        yield from self.of


class Product(_Derivation):
    """Of counts."""

    by: Literal["product"]
    of: Annotated[tuple[Reference, ...], Field(min_length=2)]

    def numbers(self) -> Iterator[str]:
        yield from self.of


class Median(_Derivation):
    """Of the figure's own `runs`, which a document may have kept for itself."""

    by: Literal["median"]
    of: Annotated[int, StrictType(), Field(ge=1)]
    """How many runs."""


class Rate(_Derivation):
    """A round's output tokens by its seconds."""

    by: Literal["rate"]
    tokens: Reference
    prompts: Reference
    latency: Reference

    def numbers(self) -> Iterator[str]:
        yield from (self.tokens, self.prompts, self.latency)


class Concurrency(_Derivation):
    """Requests a second, from how many are under way and how long one takes."""

    by: Literal["concurrency"]
    requests: Reference
    tokens: Reference
    first_token: Reference
    each_token: Reference

    def numbers(self) -> Iterator[str]:
        yield from (self.requests, self.tokens, self.first_token, self.each_token)


class Layers(_Derivation):
    """The layers that the entry's switches select of the model that its `shape` is."""

    by: Literal["layers"]


class Weights(_Derivation):
    """The bytes of so many layers of that model."""

    by: Literal["weights"]
    of: Name
    """A figure of the entry: the list of layers."""

    def figures(self) -> Iterator[str]:
        yield self.of


Derivation = Annotated[
    Change | Difference | Same | Share | Sum | Product | Median | Rate | Concurrency | Layers | Weights,
    Discriminator("by"),
]
