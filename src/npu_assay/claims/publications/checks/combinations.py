"""Figures that are put together of others."""

from collections.abc import Iterator
from math import prod

from npu_assay.claims.publications.arithmetic import median, share_percent
from npu_assay.claims.publications.checks.check import Case, Check, Remark
from npu_assay.claims.publications.derivations import Median, Product, Share, Sum
from npu_assay.claims.publications.values import Value


class ShareCheck(Check[Share]):
    """A part of a whole, in per cent."""

    def recompute(self, derivation: Share, case: Case) -> Value:
        return share_percent(case.number(derivation.part), case.number(derivation.whole))

    def compared(self, derivation: Share, case: Case) -> Iterator[str]:
        yield from _entries(case, derivation.part, derivation.whole)


class SumCheck(Check[Sum]):
    """A sum, of GiB and bytes too."""

    def recompute(self, derivation: Sum, case: Case) -> Value:
        unit = case.place.figure.unit
        first, *rest = (case.number_in(reference, unit) for reference in derivation.of)
        return sum(rest, start=first)

    def compared(self, derivation: Sum, case: Case) -> Iterator[str]:
        yield from _entries(case, *derivation.of)


class ProductCheck(Check[Product]):
    """A product of counts."""

    def recompute(self, derivation: Product, case: Case) -> Value:
        first, *rest = (case.number(reference) for reference in derivation.of)
        return prod(rest, start=first)

    def compared(self, derivation: Product, case: Case) -> Iterator[str]:
        yield from _entries(case, *derivation.of)


class MedianCheck(Check[Median]):
    """The middle of runs, where a document has them."""

    def recompute(self, derivation: Median, case: Case) -> Value | None:
        runs = case.place.figure.runs
        if runs is None:
            return None
        if len(runs) != derivation.of:
            raise ValueError(f"the median of {derivation.of} runs, but {len(runs)} are there")
        return median(runs)

    def remarks(self, derivation: Median, case: Case) -> Iterator[Remark]:
        if case.place.figure.runs is None:
            yield Remark(f"the {derivation.of} runs are not published")


def _entries(case: Case, *references: str) -> Iterator[str]:
    yield from (case.find(reference).entry for reference in references)
