"""Locks: one TOML file an environment, the only place where the versions of its components stand.

name = "cann900-vllm018"
summary = "one line"
reproduces = "..."          # the published result that ran in it
python = "3.11.6"           # the emulated variant takes any 3.11
disk_mib = 3100             # what the installed environment takes; measured, rounded up
pipelines = ["engine"]      # those that it can run, where it can't run all
hardware_only = "why"       # only where nothing can be assembled for the emulator

[requirements]              # every pure dependency, pinned with hashes
file = "cann900-vllm018.requirements.txt"
sha256 = "..."              # so that the lock's own sha256 covers that file too

[components.torch]
version = "2.9.0"
source = "index"            # see Source
sha256 = { x86_64 = "...", aarch64 = "..." }
deviation = "..."           # where and why this departs from upstream's matrix
notes = ["..."]             # what is known about exactly this version; doctor shows it
rebuilt = "module"          # of the wheel: compiled again here, from the sdist, whose hash is given too

[components.cann]
version = "9.0.0"
build = "V100R001C10SPC001B250"     # CANN: innerversion in ascend_toolkit_install.info
source = "run-packages"
file = "Ascend-cann-toolkit_9.0.0_linux-{architecture}.run"
sha256 = { x86_64 = "unverified", aarch64 = "unverified" }
download = { url = "https://...", referer = "https://..." }  # the vendor's folder that has the file
image = { tag = "9.0.0-910b-ubuntu22.04-py3.11", digest = "sha256:..." }  # the vendor's image

[components.cann.emulated]  # what the emulator has instead; a component without this table has the same there
version = "9.0.0"
build = "EMULATED"
source = "emulated"

[components.lmcache-ascend.emulated]
absent = "why"              # the emulator goes without
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    Strict,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)

from npu_assay.environment.toml_files import read_toml
from npu_assay.environment.toml_lines import line_of
from npu_assay.errors import UnusableError, UsageError
from npu_assay.project import ENVIRONMENTS
from npu_assay.source.location import GitRef, parse_url

Architecture = Literal["x86_64", "aarch64"]
Kind = Literal["emulated", "hardware"]
"""The two variants of an environment; the device kind of a run."""

DeviceWord = Literal["emulated", "npu"]
DEVICE_WORD: dict[Kind, DeviceWord] = {"emulated": "emulated", "hardware": "npu"}
"""What a user types after --device for it."""

Source = Literal["index", "vendor-index", "git", "run-packages", "emulated"]
"""index: pip's own index. vendor-index: a wheel that only the vendor's index has. git: `repository` at
`commit`, built on the host. run-packages: the vendor's .run `file`. emulated: src/emucann."""

UNVERIFIED = "unverified"
"""In place of a sha256 that nobody has published. Formal mode refuses it until the user records one."""

Sha256 = Annotated[str, StringConstraints(pattern=rf"^([0-9a-f]{{64}}|{UNVERIFIED})$")]
Digest = Annotated[str, StringConstraints(pattern=rf"^(sha256:[0-9a-f]{{64}}|{UNVERIFIED})$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
#: One word: it goes into requirements, and into commands that users copy.
VersionText = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+!_-]*$")]

#: What every environment is made of, and what it may have besides.
REQUIRED = (
    *("torch", "torchvision", "torch-npu", "triton-ascend", "vllm", "vllm-ascend"),
    *("cann", "cann-ops", "nnal"),
)
OPTIONAL = ("lmcache", "lmcache-ascend")
#: Those that are CANN: they come from a provider, and all from one.
OF_CANN = ("cann", "cann-ops", "nnal")

#: Where none is named; an image says which it has.
DEFAULT_ENVIRONMENT = os.environ.get("NPU_ASSAY_ENVIRONMENT") or "cann900-vllm018"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Download(_Strict):
    """Where a vendor's server has a file."""

    url: Annotated[str, StringConstraints(pattern=r"^https?://\S+/$")]
    """Of the folder that has it."""
    referer: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] | None = None
    """The page that the server wants to be asked from."""


class VendorImage(_Strict):
    """The vendor's container image that has a CANN."""

    tag: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}$")]
    digest: Digest
    """Of the tag as somebody trusted it: a tag can be moved, and the vendor's repository has no digests."""


class Component(_Strict):
    """One main component: what it is, where it comes from, and why it is not what upstream names."""

    version: VersionText
    build: Text | None = None
    source: Source
    repository: Text | None = None
    commit: Commit | None = None
    """The upstream commit that this version is; with source git, the one that is built."""
    file: Text | None = None
    """The name of the artefact of source run-packages or vendor-index; {architecture} stands in for it."""
    sha256: dict[Architecture | Literal["sdist"], Sha256] = {}
    """By architecture. `sdist`: the source distribution, built here where an architecture has no own hash."""
    download: Download | None = None
    """Of source run-packages: where the file is to be had, where that is public."""
    image: VendorImage | None = None
    """Of the component cann: the image that has it, where one is recorded; ours may start from that."""
    rebuilt: Text | None = None
    """The module of the wheel that is compiled again here, from the sdist, for the installed torch."""
    deviation: Text | None = None
    notes: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.rebuilt and "sdist" not in self.sha256:
            raise ValueError(f"{self.rebuilt} is rebuilt from the sdist: sha256 needs sdist")
        if self.source in ("index", "vendor-index", "run-packages") and not self.sha256:
            raise ValueError(f"a component from {self.source} needs sha256")
        if self.source in ("vendor-index", "run-packages") and not self.file:
            raise ValueError(f"a component from {self.source} needs file")
        if self.image is not None and self.source != "run-packages":
            raise ValueError(
                "image: it has CANN's run packages, so only a component from run-packages has one"
            )
        if self.source == "git" and not (self.repository and self.commit):
            raise ValueError("a component from git needs repository and commit")
        return self

    def pins(self) -> dict[str, Any]:
        """What is installed: every field but words and addresses, and but what the emulator has instead."""
        others = {"deviation", "download", "image", "notes", "emulated"}
        return self.model_dump(exclude=others, exclude_none=True)

    @property
    def git_ref(self) -> GitRef | None:
        """The commit in its repository, where both are named."""
        if self.repository is None or self.commit is None:
            return None
        return GitRef(parse_url(self.repository), self.commit)

    def artefact_sha256(self, architecture: str) -> str | None:
        """The sha256 of what is installed on that architecture, or "unverified"; None where there is none."""
        by_name = {str(key): sha256 for key, sha256 in self.sha256.items()}
        return by_name.get(architecture) or by_name.get("sdist")

    def is_built_from_sdist(self, architecture: str) -> bool:
        """Whether pip builds it on that architecture."""
        return architecture not in self.sha256 and "sdist" in self.sha256

    def is_unverified(self, architecture: str) -> bool:
        """Whether what is installed on that architecture is a file without a recorded hash."""
        return bool(self.sha256) and self.artefact_sha256(architecture) in (None, UNVERIFIED)


class Absent(_Strict):
    """A component that the emulated variant goes without."""

    absent: Text


class LockedComponent(Component):
    """A component with what the emulator has instead, where that is something else."""

    emulated: (
        Annotated[
            Annotated[Component, Tag("<component>")] | Annotated[Absent, Tag("<absent>")],
            Discriminator(lambda table: "<absent>" if "absent" in table else "<component>"),
        ]
        | None
    ) = None


class Requirements(_Strict):
    """The file of hash-locked dependencies beside the lock."""

    file: Text
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

    @field_validator("file")
    @classmethod
    def _beside_the_lock(cls, file: str) -> str:
        if Path(file).name != file:
            raise ValueError("must name a file in the lock's folder")
        return file


class LockFile(_Strict):
    """The contents of a lock."""

    name: Text
    summary: Text
    reproduces: Text | None = None
    python: Annotated[str, StringConstraints(pattern=r"^3\.\d+\.\d+$")]
    disk_mib: Annotated[PositiveInt, Strict()]
    pipelines: Annotated[list[Text], Field(min_length=1)] | None = None
    hardware_only: Text | None = None
    requirements: Requirements
    components: dict[str, LockedComponent]

    @field_validator("components")
    @classmethod
    def _known_components(cls, components: dict[str, LockedComponent]) -> dict[str, LockedComponent]:
        if unknown := sorted({*components} - {*REQUIRED, *OPTIONAL}):
            raise ValueError(
                f"components.{unknown[0]}: unknown: {', '.join(unknown)};"
                f" there are {', '.join((*REQUIRED, *OPTIONAL))}"
            )
        if missing := [name for name in REQUIRED if name not in components]:
            raise ValueError(f"missing: {', '.join(missing)}")
        return components

    @model_validator(mode="after")
    def _variants_fit(self) -> Self:
        for name, component in self.components.items():
            emulated = component.emulated
            if component.image is not None and name != "cann":
                raise ValueError(
                    f"components.{name}.image: the vendor's image is named once, in components.cann"
                )
            if component.source == "emulated" or (component.source == "run-packages") != (name in OF_CANN):
                raise ValueError(f"components.{name}.source: {name} can't come from {component.source!r}")
            if self.hardware_only:
                if emulated is not None:
                    raise ValueError(f"components.{name}.emulated: there is none, as hardware_only says")
                continue
            source = emulated.source if isinstance(emulated, Component) else component.source
            wanted = ("emulated",) if name in OF_CANN else ("index",)
            if not isinstance(emulated, Absent) and source not in wanted:
                raise ValueError(f"components.{name}.emulated.source must be {wanted[0]}, found {source!r}")
            if isinstance(emulated, Absent) and name in REQUIRED:
                raise ValueError(f"components.{name}.emulated: an environment can't go without {name}")
        return self


@dataclass(frozen=True)
class Lock:
    """A lock that was read and checked."""

    path: Path
    data: bytes
    """The file's."""
    content: LockFile

    @property
    def sha256(self) -> str:
        """Of the file."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def name(self) -> str:
        """The environment's name."""
        return self.content.name

    @property
    def python(self) -> str:
        """The minor version of its Python, such as 3.11."""
        return self.content.python.rpartition(".")[0]

    @property
    def requirements_file(self) -> Path:
        """The hash-locked dependencies."""
        return self.path.with_name(self.content.requirements.file)

    def components(self, kind: Kind) -> dict[str, Component]:
        """The components of a variant. Raises UnusableError, with the lock's reason, where it has none."""
        if kind == "emulated" and self.content.hardware_only:
            raise UnusableError(
                f"environment {self.name} is for an NPU only: {self.content.hardware_only};"
                " see npu-assay env list for those that the emulator has"
            )
        found: dict[str, Component] = {}
        for name, component in self.content.components.items():
            chosen = component.emulated if kind == "emulated" and component.emulated else component
            if not isinstance(chosen, Absent):
                found[name] = chosen
        return found

    def absent(self, kind: Kind) -> dict[str, str]:
        """Component -> why this variant goes without it."""
        if kind == "hardware":
            return {}
        return {
            name: component.emulated.absent
            for name, component in self.content.components.items()
            if isinstance(component.emulated, Absent)
        }


def lock_names(folder: Path = ENVIRONMENTS) -> list[str]:
    """The names of all environments, sorted."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def load_lock(name: str = DEFAULT_ENVIRONMENT, folder: Path = ENVIRONMENTS) -> Lock:
    """Read and check the lock of that name. Raises UsageError with one line that says what and where."""
    if name not in lock_names(folder):
        raise UsageError(
            f"no environment {name!r}; there is {', '.join(lock_names(folder)) or 'none'} in {folder}"
        )
    path = folder / f"{name}.toml"
    lock, text = _read(path)
    content = lock.content
    if content.name != name:
        line = line_of(text, ["name"])
        raise UsageError(f"{path}:{line}: name is {content.name!r}, expected the file's own, {name!r}")
    _check_requirements(lock, text)
    return lock


def read_lock(path: Path) -> Lock:
    """Read a lock wherever it is, such as the copy in an archive, which has no requirements beside it.

    Raises UsageError with one line that says what and where.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Lock, str]:
    content, data, text = read_toml(path, LockFile, "a lock")
    return Lock(path=path, data=data, content=content), text


def _check_requirements(lock: Lock, text: str) -> None:
    path = lock.requirements_file
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        why = "is not there" if isinstance(error, FileNotFoundError) else f"can't be read: {error.strerror}"
        line = line_of(text, ["requirements", "file"])
        raise UsageError(f"{lock.path}:{line}: requirements.file names {path.name}, which {why}") from error
    if found != lock.content.requirements.sha256:
        line = line_of(text, ["requirements", "sha256"])
        raise UsageError(
            f"{lock.path}:{line}: requirements.sha256 is stale: {path.name} is {found};"
            " write that into the lock"
        )
