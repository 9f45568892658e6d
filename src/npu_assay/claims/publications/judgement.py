"""Every derived figure of a publication recomputed, and a verdict on each: all that is found."""

from collections.abc import Iterator
from decimal import Decimal, localcontext

from npu_assay.claims.publications.arithmetic import half_unit, last_digit
from npu_assay.claims.publications.checks import CHECKS
from npu_assay.claims.publications.checks.check import Case, Remark
from npu_assay.claims.publications.derivations import Derivation, Verdict
from npu_assay.claims.publications.model import Figure, Publication
from npu_assay.claims.publications.report import Claim, PublicationReport
from npu_assay.claims.publications.units import alike, convert
from npu_assay.claims.publications.values import Value

#: The first of these that a claim has is its verdict. A wrong number is wrong whatever it is compared with.
_WEIGHT = (
    Verdict.DIFFERS,
    Verdict.REFUSED,
    Verdict.ATTRIBUTED_WRONGLY,
    Verdict.CANNOT_BE_RECOMPUTED,
    Verdict.AGREES,
)


def judge(publication: Publication) -> PublicationReport:
    """A claim for each derivation of each figure, in the order of the file."""
    places = tuple(publication.places)
    return PublicationReport(
        name=publication.name,
        result=publication.result,
        title=publication.title,
        figures=len(places),
        measured=sum(not place.figure.derived for place in places),
        claims=tuple(
            _claim(Case(publication, place), derivation)
            for place in places
            for derivation in place.figure.derived
        ),
    )


def _claim(case: Case, derivation: Derivation) -> Claim:
    with localcontext(prec=100):
        return _judged(case, derivation)


def _judged(case: Case, derivation: Derivation) -> Claim:
    figure = case.place.figure
    check = CHECKS[type(derivation)]
    remarks: list[Remark] = []
    recomputed: Value | None = None
    try:
        recomputed = check.recompute(derivation, case)
        remarks += check.remarks(derivation, case)
    except (ValueError, ArithmeticError) as error:  # figures that can't be put together so, division by zero
        why = str(error) if isinstance(error, ValueError) else "its figures lead to a division by zero"
        remarks.append(Remark(why, Verdict.DIFFERS))
    remarks += _unlike(case, check.compared(derivation, case))
    if recomputed is None:
        remarks.append(Remark("", Verdict.CANNOT_BE_RECOMPUTED))
    elif agrees(figure, recomputed, derivation.within):
        remarks += _printed_unit(figure, recomputed)
        if derivation.within is not None:
            remarks.append(Remark(f"a cross-check, within {derivation.within} %"))
    else:
        remarks += _difference(figure, recomputed, derivation.within)
    found = {remark.verdict for remark in remarks} | {Verdict.AGREES}
    return Claim(
        claim=str(case.place),
        by=derivation.by,
        where=figure.where or case.entry.where,
        published=published(figure),
        recomputed=None if recomputed is None else show(figure, _rounded(recomputed, figure.value)),
        verdict=next(verdict for verdict in _WEIGHT if verdict in found),
        known=derivation.known,
        note="; ".join(remark.note for remark in remarks if remark.note),
    )


def agrees(figure: Figure, recomputed: Value, within: Decimal | None) -> bool:
    """Whether the published value is the recomputed one, as far as it has digits; or `within` per cent of it.

    The figures that it is recomputed from are taken as they are printed: what their own rounding could
    hide is not granted.
    """
    value = figure.value
    if isinstance(value, Decimal) and isinstance(recomputed, Decimal):
        allowed = half_unit(value) if within is None else abs(recomputed) * within / 100
        return abs(value - recomputed) <= allowed
    return type(value) is type(recomputed) and value == recomputed


def _unlike(case: Case, others: Iterator[str]) -> Iterator[Remark]:
    """Like-for-like: what is compared was measured in one environment and with one workload.

    An entry without an environment was not measured: it is a workload, a data set, a setting.
    """
    entries, ours = case.publication.entries, case.entry
    environments = case.publication.environments
    for other in dict.fromkeys(others):
        theirs = entries[other]
        if ours.environment and theirs.environment and ours.environment != theirs.environment:
            here = environments[ours.environment].components
            there = environments[theirs.environment].components
            differing = [
                f"{name} {here.get(name, 'none')} and {there.get(name, 'none')}"
                for name in {**here, **there}
                if here.get(name) != there.get(name)
            ]
            what = ", ".join(differing) or f"{ours.environment} and {theirs.environment}"
            yield Remark(f"{case.place.entry} and {other} are of two environments: {what}", Verdict.REFUSED)
        if ours.under and theirs.under and set(ours.under) != set(theirs.under):
            under = f"{', '.join(ours.under)}, {other} under {', '.join(theirs.under)}"
            yield Remark(f"{case.place.entry} is under {under}", Verdict.REFUSED)


def _printed_unit(figure: Figure, recomputed: Value) -> Iterator[Remark]:
    if figure.printed and isinstance(recomputed, Decimal):
        try:
            other = convert(recomputed, figure.unit, figure.printed)
        except ValueError as error:
            yield Remark(f"printed as {figure.printed}: {error}", Verdict.DIFFERS)
            return
        if other:
            yield Remark(f"printed as {figure.printed}, which would be {_rounded(other, figure.value):f}")


def _difference(figure: Figure, recomputed: Value, within: Decimal | None) -> Iterator[Remark]:
    allowed = "" if within is None else f"more than {within} % off"
    yield Remark(allowed, Verdict.DIFFERS)
    if isinstance(recomputed, Decimal):
        for unit in alike(figure.unit):
            if agrees(figure, convert(recomputed, figure.unit, unit), within):
                yield Remark(f"right in {unit}")


def _rounded(value: Value, like: Value) -> Value:
    """Two digits more than are published, where it has so many; they show on which side the rounding was."""
    if not (isinstance(value, Decimal) and isinstance(like, Decimal)):
        return value
    exponent = last_digit(like)
    if value == value.to_integral_value() and exponent >= 0:
        return value.quantize(Decimal(1))
    return value.quantize(Decimal((0, (1,), exponent - 2)))


def published(figure: Figure) -> str:
    """The figure as its document has it."""
    wrong_unit = f" (printed {figure.printed})" if figure.printed else ""
    return show(figure, figure.value) + wrong_unit


def show(figure: Figure, value: Value) -> str:
    """A value of the figure on one line, in the figure's unit; hashes are cut."""
    match value:
        case bool():
            text = "yes" if value else "no"
        case tuple():
            text = ", ".join(map(str, value)) or "none"
        case Decimal():
            text = f"{value:+f}" if figure.signed and value else f"{value:f}"
        case _:
            text = f"{value[:8]}..." if figure.unit == "sha256" else value
    return f"{text} {figure.unit}" if figure.unit and isinstance(value, Decimal) else text
