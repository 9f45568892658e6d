"""Families of checks, one class each, by the derivation that they recompute."""

from typing import Any

from npu_assay.claims.publications import derivations
from npu_assay.claims.publications.checks.check import Check
from npu_assay.claims.publications.checks.combinations import (
    MedianCheck,
    ProductCheck,
    ShareCheck,
    SumCheck,
)
from npu_assay.claims.publications.checks.comparisons import ChangeCheck, DifferenceCheck, SameCheck
from npu_assay.claims.publications.checks.offloading import LayersCheck, WeightsCheck
from npu_assay.claims.publications.checks.throughput import ConcurrencyCheck, RateCheck

CHECKS: dict[type, Check[Any]] = {
    derivations.Change: ChangeCheck(),
    derivations.Difference: DifferenceCheck(),
    derivations.Same: SameCheck(),
    derivations.Share: ShareCheck(),
    derivations.Sum: SumCheck(),
    derivations.Product: ProductCheck(),
    derivations.Median: MedianCheck(),
    derivations.Rate: RateCheck(),
    derivations.Concurrency: ConcurrencyCheck(),
    derivations.Layers: LayersCheck(),
    derivations.Weights: WeightsCheck(),
}
