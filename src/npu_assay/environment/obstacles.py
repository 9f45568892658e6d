"""What keeps a variant from being installed whole by this release, known before anything is downloaded."""

import platform
from collections.abc import Iterator

from npu_assay.environment.lock import UNVERIFIED, Component
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError

#: What the step of that name compiles where there is no wheel of it.
_COMPILED = "vllm-ascend"


def obstacles(variant: Variant, architecture: str | None = None) -> list[str]:
    """Every one, each with the next step, in the order of the components; the emulator's have none."""
    machine = architecture or platform.machine()
    return [
        f"{name}: {why}"
        for name, component in variant.components.items()
        for why in _of(variant, name, component, machine)
    ]


def require_none(variant: Variant, name: str) -> None:
    """Raises UnusableError, with the next step, when this component can't be installed."""
    if found := list(_of(variant, name, variant.component(name), platform.machine())):
        raise UnusableError(f"environment {variant.lock.name}: {name}: {found[0]}")


def _of(variant: Variant, name: str, component: Component, machine: str) -> Iterator[str]:
    if name == _COMPILED and variant.compiles(name, machine):
        return  # the step of that name compiles it; what that needs is looked for then
    if component.source == "git":
        yield (
            f"it is compiled from {component.repository} at {component.commit}, which this release does for"
            f" {_COMPILED} alone; build it in a venv of your own and compare that: npu-assay env check"
            f" {variant.lock.name} --device npu --venv DIR"
        )
    elif component.source == "run-packages":
        return  # the step cann judges the host's; `npu-assay cann install` puts it there
    elif component.artefact_sha256(machine) == UNVERIFIED:
        yield (
            f"its sha256 for {machine} is unverified; record the file that you trust:"
            f" npu-assay env lock {variant.lock.name} --record FILE"
        )
