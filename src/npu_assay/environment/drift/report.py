"""All differences together, as `env check` prints them."""

from collections.abc import Callable, Iterator
from typing import Literal

from npu_assay.diagnosis import Level
from npu_assay.environment.drift import adaptations, cann, files, packages, triton
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look
from npu_assay.environment.lock import Kind
from npu_assay.strict import Strict

Comparison = Callable[[Look], Iterator[Difference]]

#: What doctor compares too, in the order of the report. It asks cann/diagnose.py about CANN.
QUICK: tuple[Comparison, ...] = (
    packages.python,
    packages.components,
    packages.duplicates,
    triton.others,
    triton.edit,
    adaptations.adaptations,
)


class DriftReport(Strict):
    """What `env check --json` prints."""

    schema_version: Literal[1] = 1
    environment: str
    kind: Kind
    lock_sha256: str
    site_packages: str
    drifted: bool
    """Whether one of the differences is a problem."""
    differences: tuple[Difference, ...]


def report(look: Look, *, deep: bool = False) -> DriftReport:
    """Every difference. `deep` reads every byte of every distribution that the lock names."""
    of_files = files.of_all_with_their_bytes if deep else files.of_all
    found = [
        difference
        for compare in (*QUICK, cann.cann, packages.requirements, of_files, packages.extras)
        for difference in compare(look)
    ]
    return DriftReport(
        environment=look.variant.lock.name,
        kind=look.variant.kind,
        lock_sha256=look.variant.lock.sha256,
        site_packages=str(look.site_packages),
        drifted=any(difference.level is Level.PROBLEM for difference in found),
        differences=tuple(found),
    )
