"""A figure against that of another entry, and what the difference may be put down to."""

from collections.abc import Iterator
from decimal import Decimal

from npu_assay.claims.publications.arithmetic import change_percent
from npu_assay.claims.publications.checks.check import Case, Check, Remark
from npu_assay.claims.publications.derivations import Change, Difference, Same, Verdict
from npu_assay.claims.publications.values import Value


class ChangeCheck(Check[Change]):
    """A gain is a switch's only between entries that differ in that switch alone."""

    def recompute(self, derivation: Change, case: Case) -> Value:
        return change_percent(*_both(derivation, case))

    def compared(self, derivation: Change, case: Case) -> Iterator[str]:
        yield derivation.against

    def remarks(self, derivation: Change, case: Case) -> Iterator[Remark]:
        if why := case.publication.no_performance:
            yield Remark(f"no evidence, as the document says: {why}", Verdict.REFUSED)
        differing = switches_between(case, derivation.against)
        named, credited = _listed(differing), _listed(derivation.attributed_to)
        if set(derivation.attributed_to) != set(differing):
            yield Remark(
                f"put down to {credited}, but from {derivation.against} to {case.place.entry} differ {named}",
                Verdict.ATTRIBUTED_WRONGLY,
            )
        elif len(differing) > 1:
            yield Remark(f"of {len(differing)} switches together, of none of them alone: {named}")


class DifferenceCheck(Check[Difference]):
    """What is left when another entry's figure is taken away."""

    def recompute(self, derivation: Difference, case: Case) -> Value:
        ours, theirs = _both(derivation, case)
        return ours - theirs

    def compared(self, derivation: Difference, case: Case) -> Iterator[str]:
        yield derivation.against


class SameCheck(Check[Same]):
    """Two figures that are one: hashes of equal outputs, counts of equal things."""

    def recompute(self, derivation: Same, case: Case) -> Value:
        value = case.find(derivation.of).figure.value
        return case.number_in(derivation.of, case.place.figure.unit) if isinstance(value, Decimal) else value

    def compared(self, derivation: Same, case: Case) -> Iterator[str]:
        yield case.find(derivation.of).entry

    def remarks(self, derivation: Same, case: Case) -> Iterator[Remark]:
        yield Remark(f"as {derivation.of}")


def _both(derivation: Change | Difference, case: Case) -> tuple[Decimal, Decimal]:
    """The figure and the other entry's, in one unit."""
    unit = case.find(derivation.of).figure.unit
    return case.number(derivation.of), case.number_in(f"{derivation.against}.{derivation.of}", unit)


def switches_between(case: Case, other: str) -> tuple[str, ...]:
    """The switches in which the entry differs from another; one that only one of them names, too."""
    ours, theirs = case.entry.switches, case.publication.entries[other].switches
    return tuple(name for name in {**theirs, **ours} if _of(ours, name) != _of(theirs, name))


def _of(switches: dict[str, int | bool | str], name: str) -> tuple[type, object]:
    value = switches.get(name)
    return type(value), value  # as True and 1 are not the same setting


def _listed(switches: tuple[str, ...]) -> str:
    return ", ".join(switches) or "no switch"
