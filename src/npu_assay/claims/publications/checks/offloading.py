"""Which layers' weights are offloaded, and what they weigh."""

from collections.abc import Iterator
from decimal import Decimal

from npu_assay.claims.publications.arithmetic import selected_layers
from npu_assay.claims.publications.checks.check import Case, Check, Remark
from npu_assay.claims.publications.derivations import Layers, Weights
from npu_assay.claims.publications.model import GROUP_SIZE, NUM_IN_GROUP, DecoderShape
from npu_assay.claims.publications.units import convert
from npu_assay.claims.publications.values import Value


class LayersCheck(Check[Layers]):
    """The list of layers, from the two switches and the number of layers."""

    def recompute(self, derivation: Layers, case: Case) -> Value:
        group_size, num_in_group = (case.entry.switches[name] for name in (GROUP_SIZE, NUM_IN_GROUP))
        assert isinstance(group_size, int)
        assert isinstance(num_in_group, int)  # both checked when the file was read
        return selected_layers(_shape(case).layers, group_size, num_in_group)


class WeightsCheck(Check[Weights]):
    """So many layers, each of the model's bytes."""

    def recompute(self, derivation: Weights, case: Case) -> Value:
        size = Decimal(_count(derivation, case) * _shape(case).layer_bytes)
        return convert(size, "B", case.place.figure.unit)

    def remarks(self, derivation: Weights, case: Case) -> Iterator[Remark]:
        if count := _count(derivation, case):
            yield Remark(f"{count} layers of {_shape(case).layer_bytes:,} bytes")


def _count(derivation: Weights, case: Case) -> int:
    layers = case.find(derivation.of).figure.value
    assert isinstance(layers, tuple)  # checked when the file was read
    return len(layers)


def _shape(case: Case) -> DecoderShape:
    name = case.entry.shape
    assert name is not None  # checked when the file was read
    return case.publication.shapes[name]
