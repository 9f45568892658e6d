"""A variant: what one lock names for hardware, or for the emulator. What installs or compares sees this."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass

from npu_assay.cache import KEY_LENGTH
from npu_assay.environment.lock import DEVICE_WORD, UNVERIFIED, Component, Kind, Lock
from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class Variant:
    """The components of a lock on one kind of device."""

    lock: Lock
    kind: Kind
    components: Mapping[str, Component]
    absent: Mapping[str, str]
    """Component -> why this variant goes without it."""

    @classmethod
    def of(cls, lock: Lock, kind: Kind) -> "Variant":
        """Raises UnusableError, with the lock's reason, where there is no such variant."""
        return cls(lock, kind, lock.components(kind), lock.absent(kind))

    @property
    def key(self) -> str:
        """The name of the environment's folder in the cache: a digest of all that is installed.

        Words (deviations, notes, comments) and the other variant can change without a new installation.
        """
        pins = {name: component.pins() for name, component in sorted(self.components.items())}
        text = json.dumps([self.lock.python, self.lock.content.requirements.sha256, pins], sort_keys=True)
        return f"{self.lock.name}-{self.kind}-{hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]}"

    @property
    def install_command(self) -> str:
        """What a user types to install it."""
        return f"npu-assay env install {self.lock.name} --device {DEVICE_WORD[self.kind]}"

    @property
    def cann_command(self) -> str | None:
        """What a user types to install its CANN; None for the emulated one, which comes with the rest."""
        return f"npu-assay cann install {self.lock.name}" if self.kind == "hardware" else None

    @property
    def provider(self) -> str:
        """The name of the provider of its CANN: run packages are installed on the host before, if at all."""
        return "host" if self.components["cann"].source == "run-packages" else "emulated"

    @property
    def versions(self) -> dict[str, str]:
        """Component -> version."""
        return {name: component.version for name, component in self.components.items()}

    @property
    def builds(self) -> dict[str, str]:
        """Component -> build, of those that have one."""
        return {name: component.build for name, component in self.components.items() if component.build}

    @property
    def deviations(self) -> dict[str, str]:
        """Component -> why it departs from upstream's matrix."""
        return {name: c.deviation for name, c in self.components.items() if c.deviation} | {
            name: f"Absent: {why}" for name, why in self.absent.items()
        }

    @property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """Component -> what is known about exactly this version."""
        return {name: component.notes for name, component in self.components.items() if component.notes}

    @property
    def unverified(self) -> tuple[str, ...]:
        """Components whose hash for this machine is still to be recorded."""
        return self.unverified_on(platform.machine())

    def unverified_on(self, machine: str) -> tuple[str, ...]:
        """Components whose hash for that architecture is still to be recorded."""
        return tuple(name for name, component in self.components.items() if component.is_unverified(machine))

    def component(self, name: str) -> Component:
        """One component, by name."""
        return self.components[name]

    def compiles(self, name: str, architecture: str | None = None) -> bool:
        """Whether a component is compiled on the host: hardware's from git, or where there is no wheel."""
        component = self.component(name)
        from_sdist = component.is_built_from_sdist(architecture or platform.machine())
        return self.kind == "hardware" and (component.source == "git" or from_sdist)

    def requirement(self, name: str, architecture: str) -> str:
        """pip's requirement line for a component from an index, with its hash.

        Raises UnusableError when the lock has no hash for this architecture, or none that anybody verified.
        """
        component = self.component(name)
        sha256 = component.artefact_sha256(architecture)
        where = f"{self.lock.path}: components.{name}.sha256"
        if sha256 is None:
            raise UnusableError(
                f"{where} has no {architecture}, only {', '.join(sorted(map(str, component.sha256)))}"
            )
        if sha256 == UNVERIFIED:
            raise UnusableError(
                f"{where} is unverified for {architecture}; record the file that you trust:"
                f" npu-assay env lock {self.lock.name} --record FILE"
            )
        return f"{name}=={component.version} --hash=sha256:{sha256}"
