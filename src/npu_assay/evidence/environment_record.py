"""What a manifest says of the environment, as its lock gives it: a run writes it, a rule derives it again."""

from collections.abc import Mapping

from npu_assay.environment.variant import Variant
from npu_assay.evidence.manifest import EnvironmentRecord


def environment_record(variant: Variant, machine: str, rebuilt: Mapping[str, str]) -> EnvironmentRecord:
    """The record of a run on that architecture. `rebuilt` is what only the installation knows."""
    return EnvironmentRecord(
        name=variant.lock.name,
        lock_sha256=variant.lock.sha256,
        deviations=variant.deviations,
        versions=variant.versions,
        builds=variant.builds,
        unverified=variant.unverified_on(machine),
        notes=variant.notes,
        absent=dict(variant.absent),
        rebuilt=dict(rebuilt),
    )
