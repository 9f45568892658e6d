"""Providers put a CANN where the environment finds it. A lock names one; today there is the emulated one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from npu_assay.cann.tree import CannTree
from npu_assay.errors import UnusableError

#: Called with one line when there is something to wait for.
Report = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """The environment that a CANN is for."""

    python: Path
    site_packages: Path
    #: Component -> version, of the wheels that load this CANN (torch, torch-npu, vllm-ascend).
    versions: Mapping[str, str]


class Provider(Protocol):
    """One way to have a CANN."""

    @property
    def name(self) -> str:
        """The name that locks use."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Steps of the environment that must have run before this provider's own."""

    def locate(self, target: Target) -> CannTree:
        """Where the CANN for this target is or will be; changes nothing."""

    def ready(self, target: Target) -> bool:
        """Whether it is there, whole."""

    def provide(self, target: Target, report: Report) -> CannTree:
        """Put it there if it is not."""


#: Providers that locks may name and that later work brings.
_NOT_YET = ("host", "run-packages", "image")


def provider(name: str) -> Provider:
    """The provider of that name. Raises UnusableError for those that are not available yet."""
    if name == "emulated":
        # Imported here: it needs the checkout's sources and a compiler, which no other provider does.
        from npu_assay.cann.emulated import EmulatedProvider

        return EmulatedProvider()
    if name in _NOT_YET:
        raise UnusableError(
            f"the CANN provider {name!r} is not available yet; use an environment with 'emulated'"
        )
    raise UnusableError(f"no CANN provider {name!r}; there are emulated, {', '.join(_NOT_YET)}")
