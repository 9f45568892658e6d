"""What a provider is: one way to put a CANN where the environment finds it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from npu_assay.cann.agreement import Expected
from npu_assay.cann.tree import CannTree

#: Called with one line when there is something to wait for.
Report = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """The environment that a CANN is for."""

    python: Path
    site_packages: Path
    #: Component -> version, of the wheels that load this CANN (torch, torch-npu, vllm-ascend).
    versions: Mapping[str, str]
    #: What the lock says of CANN, ops and ATB; the emulated provider makes what it is asked for.
    expected: Expected = field(default_factory=Expected)


class Provider(Protocol):
    """One way to have a CANN."""

    @property
    def name(self) -> str:
        """The name that locks use."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Steps of the environment that must have run before this provider's own."""

    def locate(self, target: Target) -> CannTree:
        """Where the CANN for this target is or will be; changes nothing.

        Raises UnusableError, with a line for each fault, where it is nowhere that can be used.
        """

    def ready(self, target: Target) -> bool:
        """Whether it is there, whole."""

    def provide(self, target: Target, report: Report) -> CannTree:
        """Put it there if it is not. Raises UnusableError."""
