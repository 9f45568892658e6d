"""The file of a published result (`ci/claims/*.toml`): every figure of a document as data.

name = "offload-groups"             # the file's own
result = "C"                        # as this project calls it
title = "..."                       # the document's, and what it is
no_performance = "why"              # only where the document itself says that its times are no evidence

[environments.cann851]              # what figures were measured in
where = "section or line of the document"
components = { cann = "8.5.1", torch = "2.9.0+cpu" }

[shapes.qwen]                       # of a model's decoder layers; not the document's, so `source` says whose
source = "..."
layers = 28
...

[entries.group-8-num-1]             # figures that stand together: a row of a table, a paragraph
where = "Formal performance result, second row"
environment = "cann851"             # where they were measured
under = ["workload"]                # the entries that say with what
shape = "qwen"
switches = { offload-group-size = 8, offload-num-in-group = 1 }

[entries.group-8-num-1.figures]
throughput = { value = 678.85, unit = "tokens/s" }
change = { value = -8.61, unit = "%", derived = [{ by = "change", of = "throughput", ... }] }

A figure has:

| key | meaning |
| --- | --- |
| `value` | a number with the digits that are printed, a text, a truth value, or a list of layers |
| `unit` | what it is measured in (units.py) |
| `printed` | the unit that the document prints, where that is another and wrong |
| `where` | where it stands, if not where its entry does |
| `runs` | the runs that it is the median of, where they are published |
| `derived` | the ways in which it follows from others; without it, it is taken as measured |

A way is `by` one of these. A reference is `figure`, of the same entry, or `entry.figure`.

| by | from | the figure is |
| --- | --- | --- |
| change | `of`, `against`, `attributed_to` | per cent more than that of `against`, owed to these switches |
| difference | `of`, `against` | that figure minus the one of the entry `against` |
| same | `of` | another figure |
| share | `part`, `whole` | per cent |
| sum, product | `of` | of several |
| median | `of`: how many | of `runs` |
| rate | `tokens`, `prompts`, `latency` | output tokens a second |
| concurrency | `requests`, `tokens`, `first_token`, `each_token` | requests a second, by Little's law |
| layers | the entry's switches and shape | the layers whose weights are offloaded |
| weights | `of`, the entry's shape | the size of these layers |

and may have `within`, per cent, where it is a cross-check and no identity, and `known`, the verdict on a
fault of the document that is known. What is not of the document stands in no figure. An unknown key is an
error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic import Strict as StrictType

from npu_assay.claims.publications.arithmetic import decoder_layer_weights
from npu_assay.claims.publications.derivations import Change, Derivation, Difference, Layers, Weights
from npu_assay.claims.publications.units import Unit
from npu_assay.claims.publications.values import Number, PublishedValue, Switch
from npu_assay.evidence.manifest import Name
from npu_assay.strict import Strict

GROUP_SIZE, NUM_IN_GROUP = "offload-group-size", "offload-num-in-group"

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Count = Annotated[int, StrictType(), Field(ge=1)]


class Figure(Strict):
    """One figure of a document. The keys are described at the top of this file."""

    value: PublishedValue
    unit: Unit | None = None
    printed: Unit | None = None
    where: Text | None = None
    runs: Annotated[tuple[Number, ...], Field(min_length=1)] | None = None
    derived: tuple[Derivation, ...] = ()

    @property
    def signed(self) -> bool:
        """Whether it says how much more or less something is."""
        return any(isinstance(way, Change | Difference) for way in self.derived)

    @model_validator(mode="after")
    def _unit_fits(self) -> Self:
        digits = {"sha256": 64, "commit": 7}.get(self.unit or "")
        if digits is not None:
            text = self.value if isinstance(self.value, str) else ""
            whole = len(text) == digits if self.unit == "sha256" else digits <= len(text) <= 40
            if not whole or set(text) - set("0123456789abcdef"):
                raise ValueError(f"expected a {self.unit} in hexadecimal, found {self.value!r}")
        elif self.unit not in (None, "date", "layers") and not isinstance(self.value, Decimal):
            raise ValueError(f"a figure in {self.unit} is a number, found {self.value!r}")
        twice = next((way for way in self.derived if self.derived.count(way) > 1), None)
        if twice is not None:
            raise ValueError(f"derived by {twice.by} from the same twice")
        if self.printed == self.unit and self.printed is not None:
            raise ValueError(f"printed is for another unit than {self.unit}")
        return self


class PublishedEnvironment(Strict):
    """The versions that figures were measured with."""

    where: Text
    components: Annotated[dict[Name, Text], Field(min_length=1)]


class DecoderShape(Strict):
    """What the weights of a model's decoder layers follow from."""

    source: Text
    layers: Count
    hidden: Count
    intermediate: Count
    heads: Count
    kv_heads: Count
    head_size: Count
    bytes_per_weight: Count

    @property
    def layer_bytes(self) -> int:
        return self.bytes_per_weight * decoder_layer_weights(
            hidden=self.hidden,
            intermediate=self.intermediate,
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_size=self.head_size,
        )


class Entry(Strict):
    """Figures that stand together in a document."""

    where: Text
    environment: Name | None = None
    under: tuple[Name, ...] = ()
    shape: Name | None = None
    switches: dict[Name, Switch] = Field(default_factory=dict)
    figures: Annotated[dict[Name, Figure], Field(min_length=1)]

    @model_validator(mode="after")
    def _measured_somewhere(self) -> Self:
        if self.switches and self.environment is None:
            raise ValueError("an entry with switches was measured: it needs environment")
        return self


@dataclass(frozen=True)
class Place:
    """A figure and where it is in the file."""

    entry: str
    name: str
    figure: Figure

    def __str__(self) -> str:
        return f"{self.entry}.{self.name}"


class Publication(Strict):
    """A document's figures, each reference in them checked."""

    name: Name
    result: Annotated[str, StringConstraints(pattern=r"^[A-Z]$")]
    title: Text
    no_performance: Text | None = None
    environments: dict[Name, PublishedEnvironment] = Field(default_factory=dict)
    shapes: dict[Name, DecoderShape] = Field(default_factory=dict)
    entries: Annotated[dict[Name, Entry], Field(min_length=1)]

    @property
    def places(self) -> Iterator[Place]:
        """All figures, in the order of the file."""
        for entry_name, entry in self.entries.items():
            for name, figure in entry.figures.items():
                yield Place(entry_name, name, figure)

    def find(self, reference: str, entry: str) -> Place:
        """The figure that a reference in that entry means. Raises ValueError where there is none."""
        other, dot, name = reference.rpartition(".")
        found = self.entries.get(other if dot else entry)
        if found is None:
            raise ValueError(f"no entry {other!r}; there are {', '.join(self.entries)}")
        if name not in found.figures:
            known = ", ".join(found.figures)
            raise ValueError(f"no figure {name!r} in entry {other or entry}; it has {known}")
        return Place(other if dot else entry, name, found.figures[name])

    @model_validator(mode="after")
    def _references_lead_somewhere(self) -> Self:
        for name, entry in self.entries.items():
            _named(f"entries.{name}.environment", entry.environment, self.environments)
            _named(f"entries.{name}.shape", entry.shape, self.shapes)
            for other in entry.under:
                _named(f"entries.{name}.under", other, self.entries)
        for place in self.places:
            for derivation in place.figure.derived:
                try:
                    self._fits(derivation, place)
                except ValueError as error:
                    where = f"entries.{place.entry}.figures.{place.name}"
                    raise ValueError(f"{where}: derived by {derivation.by}: {error}") from error
        return self

    def _fits(self, derivation: Derivation, place: Place) -> None:
        numbers = set(derivation.numbers())
        for reference in (*derivation.figures(), *derivation.numbers()):
            found = self.find(reference, place.entry)
            if found == place:
                raise ValueError(f"{found} would follow from itself")
            if reference in numbers and not isinstance(found.figure.value, Decimal):
                raise ValueError(f"{found} is no number: {found.figure.value!r}")
        entry = self.entries[place.entry]
        if isinstance(derivation, Layers | Weights) and entry.shape is None:
            raise ValueError(f"entry {place.entry} has no shape")
        if isinstance(derivation, Layers):
            sizes = [entry.switches.get(name) for name in (GROUP_SIZE, NUM_IN_GROUP)]
            size, number = (-1 if isinstance(one, bool | str) or one is None else one for one in sizes)
            if size < 0 or number < 1 or 0 < size < number:
                raise ValueError(
                    f"expected switches {GROUP_SIZE} and {NUM_IN_GROUP} as vLLM takes them, found {sizes}"
                )
        if isinstance(derivation, Weights) and not isinstance(
            layers := self.find(derivation.of, place.entry).figure.value, tuple
        ):
            raise ValueError(f"{derivation.of} is no list of layers: {layers!r}")


def _named(where: str, name: str | None, known: Mapping[str, object]) -> None:
    if name is not None and name not in known:
        raise ValueError(f"{where}: no {name!r}; there are {', '.join(known) or 'none'}")
