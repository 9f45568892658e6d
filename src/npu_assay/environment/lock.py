"""Locks: one TOML file an environment, the only place where the versions of its components stand.

name = "cann900-vllm018"
summary = "one line"
python = "3.11"

[requirements]              # every pure dependency, pinned with hashes
file = "cann900-vllm018.requirements.txt"
sha256 = "..."              # so that the lock's own sha256 covers that file too

[components.torch]
version = "2.9.0"
source = "index"            # pip's own index, or a provider of CANN: "emulated", "host", ...
sha256 = { x86_64 = "...", aarch64 = "..." }    # or { any = "..." } for a source distribution
deviation = "..."           # where and why this departs from upstream's matrix

[components.cann]
version = "9.0.0"
build = "EMULATED"          # CANN: innerversion in ascend_toolkit_install.info
source = "emulated"
"""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from npu_assay.cache import KEY_LENGTH
from npu_assay.errors import UsageError
from npu_assay.project import ENVIRONMENTS

Architecture = Literal["x86_64", "aarch64"]
Source = Literal["index", "emulated", "host", "run-packages", "image"]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]

#: What every environment is made of. CANN and NNAL come from a provider, the others from pip's index.
FROM_INDEX = ("torch", "torchvision", "torch-npu", "triton-ascend", "vllm", "vllm-ascend")
FROM_PROVIDER = ("cann", "nnal")

DEFAULT_ENVIRONMENT = "cann900-vllm018"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Component(_Strict):
    """One main component: what it is, where it comes from, and why it is not what upstream names."""

    version: Text
    build: Text | None = None
    source: Source
    sha256: dict[Architecture | Literal["any"], Sha256] = {}
    deviation: Text | None = None

    @model_validator(mode="after")
    def _pinned_where_it_can_be(self) -> "Component":
        if self.source == "index" and not self.sha256:
            raise ValueError("a component from the index needs sha256")
        if "any" in self.sha256 and len(self.sha256) > 1:
            raise ValueError("sha256 has either `any` or architectures")
        return self


class Requirements(_Strict):
    """The file of hash-locked dependencies beside the lock."""

    file: Text
    sha256: Sha256

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
    python: Text
    requirements: Requirements
    components: dict[str, Component]

    @field_validator("components")
    @classmethod
    def _known_components(cls, components: dict[str, Component]) -> dict[str, Component]:
        wanted = {*FROM_INDEX, *FROM_PROVIDER}
        if wrong := sorted(wanted ^ set(components)):
            raise ValueError(f"must be exactly {', '.join(sorted(wanted))}; see {', '.join(wrong)}")
        for name, component in components.items():
            if (component.source == "index") != (name in FROM_INDEX):
                raise ValueError(f"{name} can't come from {component.source!r}")
        if components["cann"].source != components["nnal"].source:
            raise ValueError("cann and nnal must come from one provider")
        return components


@dataclass(frozen=True)
class Lock:
    """A lock that was read and checked."""

    path: Path
    sha256: str
    content: LockFile

    @property
    def name(self) -> str:
        """The environment's name."""
        return self.content.name

    @property
    def key(self) -> str:
        """The name of the environment's folder in the cache."""
        return f"{self.name}-{self.sha256[:KEY_LENGTH]}"

    @property
    def requirements_file(self) -> Path:
        """The hash-locked dependencies."""
        return self.path.with_name(self.content.requirements.file)

    @property
    def provider(self) -> Source:
        """The name of the provider of CANN."""
        return self.content.components["cann"].source

    @property
    def deviations(self) -> dict[str, str]:
        """Component -> why it departs from upstream's matrix."""
        return {name: c.deviation for name, c in self.content.components.items() if c.deviation}

    def component(self, name: str) -> Component:
        """One component, by name."""
        return self.content.components[name]

    def requirement(self, name: str, architecture: str) -> str:
        """pip's requirement line for a component from the index, with its hash.

        Raises UsageError when the lock has no hash for this architecture.
        """
        component = self.component(name)
        hashes = {str(key): sha256 for key, sha256 in component.sha256.items()}
        sha256 = hashes.get("any") or hashes.get(architecture)
        if sha256 is None:
            there = ", ".join(sorted(hashes))
            raise UsageError(f"{self.path}: components.{name}.sha256 has no {architecture}, only {there}")
        return f"{name}=={component.version} --hash=sha256:{sha256}"


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
    data = path.read_bytes()
    try:
        content = LockFile.model_validate(tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_first_problem(error)}") from error
    if content.name != name:
        raise UsageError(f"{path}: name is {content.name!r}, expected the file's own, {name!r}")
    lock = Lock(path=path, sha256=hashlib.sha256(data).hexdigest(), content=content)
    _check_requirements(lock)
    return lock


def _first_problem(error: ValidationError) -> str:
    problems = error.errors()
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}{more}"


def _check_requirements(lock: Lock) -> None:
    path = lock.requirements_file
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError as error:
        raise UsageError(f"{lock.path}: requirements.file names {path.name}, which is not there") from error
    if found != lock.content.requirements.sha256:
        raise UsageError(
            f"{lock.path}: requirements.sha256 is stale: {path.name} is {found}; write that into the lock"
        )
