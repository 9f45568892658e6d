"""The run packages that a lock names, for the room that installs them."""

from npu_assay.cann.agreement import Expected, Part
from npu_assay.cann.run_packages.package import RunPackage, Wanted
from npu_assay.environment.artefacts import file_name
from npu_assay.environment.lock import UNVERIFIED
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError

#: In the order of installation.
_PARTS = {"cann": Part.TOOLKIT, "cann-ops": Part.OPS, "nnal": Part.NNAL}


def wanted_packages(variant: Variant, architecture: str) -> Wanted:
    """Those of a variant for hardware. Raises UnusableError where the lock has none for the architecture."""
    return Wanted(
        packages=tuple(_package(variant, name, part, architecture) for name, part in _PARTS.items()),
        expected=Expected.of(variant.versions, variant.builds, variant.cann_command),
        architecture=architecture,
        record=f"npu-assay env lock {variant.lock.name} --record",
    )


def _package(variant: Variant, name: str, part: Part, architecture: str) -> RunPackage:
    component = variant.component(name)
    recorded = {str(key): value for key, value in component.sha256.items() if value != UNVERIFIED}
    if architecture not in map(str, component.sha256):
        has = ", ".join(sorted(map(str, component.sha256)))
        raise UnusableError(
            f"{variant.lock.path}: components.{name}.sha256 has no {architecture}, only {has}"
        )
    return RunPackage(
        part=part,
        version=component.version,
        build=component.build,
        file=file_name(name, component, architecture),
        sha256=recorded.get(architecture),
        elsewhere={key: value for key, value in recorded.items() if key != architecture},
    )
