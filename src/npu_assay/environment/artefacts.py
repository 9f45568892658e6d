"""What a variant is made of on an architecture: what pip and git can get, and what a person has to."""

from dataclasses import dataclass
from pathlib import Path

from npu_assay.environment.lock import UNVERIFIED, Component
from npu_assay.environment.requirements import read_pins
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError
from npu_assay.source.location import GitRef

#: What a run needs the sources of, too: for its tests, patches on it, and a module that is rebuilt.
_TESTED = "vllm-ascend"


@dataclass(frozen=True)
class Artefact:
    """A file that pip finds by name and version, and knows by its hash."""

    name: str
    version: str
    sha256: frozenset[str]
    """Of every file that would do: one for a component, those of all architectures for a requirement."""
    is_component: bool
    is_sdist: bool = False
    file: str | None = None
    """Its name, for one that only the vendor's index has: where pip does not find it, a person does."""

    @property
    def requirement(self) -> str:
        """pip's line for it."""
        hashes = "".join(f" --hash=sha256:{sha256}" for sha256 in sorted(self.sha256))
        return f"{self.name}=={self.version}{hashes}"


@dataclass(frozen=True)
class ByHand:
    """A file, or a source, that a person gets: no index has it."""

    component: str
    what: str
    """The file's name, or the repository and commit."""
    sha256: str | None
    """None where the component is no file."""


@dataclass(frozen=True)
class InGit:
    """A commit that is built from."""

    component: str
    ref: GitRef


@dataclass(frozen=True)
class Artefacts:
    """All that a variant is made of."""

    by_pip: tuple[Artefact, ...]
    by_hand: tuple[ByHand, ...]
    in_git: tuple[InGit, ...] = ()


def artefacts(variant: Variant, architecture: str) -> Artefacts:
    """The files of a variant. Raises UnusableError for a component without a hash for the architecture."""
    by_pip = requirement_artefacts(variant.lock.requirements_file)
    by_hand: list[ByHand] = []
    in_git: list[InGit] = []
    for name, component in variant.components.items():
        if component.source == "emulated":
            continue
        if component.source == "git":
            assert component.git_ref is not None, "as the lock's model sees to"
            in_git.append(InGit(name, component.git_ref))
            continue
        sha256 = component.artefact_sha256(architecture)
        if sha256 is None:
            raise UnusableError(
                f"{variant.lock.path}: components.{name}.sha256 has no {architecture}, only"
                f" {', '.join(sorted(map(str, component.sha256)))}"
            )
        if component.source == "run-packages" or sha256 == UNVERIFIED:
            by_hand.append(ByHand(name, file_name(name, component, architecture), sha256))
        else:
            built = component.is_built_from_sdist(architecture)
            by_pip.append(_artefact(name, component, architecture, sha256, is_sdist=built))
            if name == _TESTED and "sdist" in component.sha256 and not built:
                by_pip.append(
                    _artefact(name, component, architecture, component.sha256["sdist"], is_sdist=True)
                )
    return Artefacts(tuple(by_pip), tuple(by_hand), tuple(in_git))


def requirement_artefacts(requirements: Path) -> list[Artefact]:
    """What a file of hash-locked requirements names. Raises UsageError where it is none."""
    return [
        Artefact(pin.name, pin.version, pin.sha256, is_component=False) for pin in read_pins(requirements)
    ]


def _artefact(name: str, component: Component, architecture: str, sha256: str, *, is_sdist: bool) -> Artefact:
    return Artefact(
        name,
        component.version,
        frozenset({sha256}),
        is_component=True,
        is_sdist=is_sdist,
        file=file_name(name, component, architecture) if component.source == "vendor-index" else None,
    )


def file_name(name: str, component: Component, architecture: str) -> str:
    """The name of a component's file where the lock says it, else what it begins with."""
    if component.file:
        return component.file.format(architecture=architecture)
    return f"{name}-{component.version}"
