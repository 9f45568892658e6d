"""An environment: where the venv that a lock describes is, and what a command needs to run in it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from npu_assay.cache import cache_root, content_key, is_complete, tree_digest
from npu_assay.cann.agreement import Expected
from npu_assay.cann.provider import Provider, Target
from npu_assay.cann.providers import provider
from npu_assay.cann.tree import CannTree
from npu_assay.cann.variables import cann_variables, search_path
from npu_assay.environment.folder import VenvFolder
from npu_assay.environment.lock import Kind, Lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError
from npu_assay.project import ADAPTATIONS
from npu_assay.source.tree import SourceTree

#: Variables of the caller that would change what runs in the environment.
_NOT_INHERITED = (
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PYTHONHOME",
    "PYTHONOPTIMIZE",
    "PYTHONPATH",
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
)

_ALWAYS = {
    "PYTHONNOUSERSITE": "1",
    # Nothing is fetched and nothing is told to anyone at run time.
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
}

#: What the caller may set otherwise. One host is enough here: the engine's processes talk over loopback.
_UNLESS_SET = {"VLLM_HOST_IP": "127.0.0.1"}

#: Beside the stand-ins for CUDA's libraries: without it torch.cuda.is_available, which torch-npu asks at
#: every step, searches the disk for a driver each time. (An empty value would mean something to vLLM's Triton
#: detection.)
_NO_CUDA = {"CUDA_VISIBLE_DEVICES": "-1"}


#: What is built on the emulator, and how: changes with environment/ascend_build/emulated.py.
_OVERLAY = "overlay 1"


@dataclass(frozen=True)
class Environment(VenvFolder):
    """The environment of a lock in a cache folder; it may not be installed yet.

    `root` holds venv/, cudastub/ (where torch is a CUDA build), steps/, logs/ and complete.json.
    """

    variant: Variant
    root: Path
    cache: Path
    fetched: Path | None = None
    """The folder of `env fetch` that pip takes every file from; None: what the user's pip is set to."""
    adaptations_source: Path = ADAPTATIONS
    tree: SourceTree | None = None
    """The vllm-ascend that a run has of its own; None: the installed one."""

    @classmethod
    def of(
        cls,
        lock: Lock,
        kind: Kind = "emulated",
        cache: Path | None = None,
        fetched: Path | None = None,
        tree: SourceTree | None = None,
    ) -> "Environment":
        """The environment of this lock on this kind of device, in the cache.

        Raises UnusableError, with the lock's reason, where the lock has no such variant.
        """
        cache, variant = cache or cache_root(), Variant.of(lock, kind)
        root = cache / "environments" / variant.key
        return cls(variant=variant, root=root, cache=cache, fetched=fetched, tree=tree)

    @property
    def lock(self) -> Lock:
        """Its lock."""
        return self.variant.lock

    @property
    def python_version(self) -> str:
        """The minor version of its Python."""
        return self.lock.python

    @property
    def name(self) -> str:
        """The lock's name."""
        return self.lock.name

    @cached_property
    def provider(self) -> Provider:
        """The provider of its CANN."""
        return provider(self.variant.provider)

    @property
    def target(self) -> Target:
        """What a provider of CANN must know of this environment."""
        versions = {name: self.variant.versions[name] for name in ("torch", "torch-npu", "vllm-ascend")}
        expected = Expected.of(self.variant.versions, self.variant.builds, self.variant.cann_command)
        return Target(self.python, self.site_packages, versions, expected)

    @property
    def cann(self) -> CannTree:
        """Its CANN; see `missing` for whether that is there yet."""
        return self.provider.locate(self.target)

    @property
    def adaptations_folder(self) -> Path:
        """The cache folder of the plug-in of this checkout, keyed by its content."""
        return self.cache / "adaptations" / content_key([tree_digest(self.adaptations_source)])

    @property
    def adaptations(self) -> Path:
        """The folder for PYTHONPATH that has the plug-in and its dist-info."""
        return self.adaptations_folder / "site"

    @property
    def build_folder(self) -> Path:
        """The cache folder of its tree's build. Without a tree there is none."""
        assert self.tree is not None, "the installed vllm-ascend has no build"
        record = self.tree.record
        parts = [_OVERLAY, self.variant.key, record.tree_sha256, record.version]
        return self.cache / "builds" / content_key(parts)

    @property
    def vllm_ascend(self) -> Path:
        """The folder of the package vllm_ascend that is imported."""
        site = self.site_packages if self.tree is None else self.build_folder / "site"
        return site / "vllm_ascend"

    def unbuilt(self) -> str:
        """Why nothing that imports vllm_ascend may run, as it would import another one; else nothing."""
        if self.tree is None or is_complete(self.build_folder):
            return ""
        return f"vllm-ascend {self.tree.record.version} is not built"

    @property
    def model_infos(self) -> Path | None:
        """For what vLLM finds out of the installed model classes; None with a tree, which may change it."""
        return self.root / "model-infos" if self.tree is None else None

    def is_made(self) -> bool:
        """Whether the venv is whole, and the Python it was made with is still there."""
        return is_complete(self.root) and self.python.exists()

    def missing(self) -> list[str]:
        """What is not there yet, of venv, cann and adaptations."""
        there = {
            "venv": self.is_made(),
            "cann": self.provider.ready(self.target),
            "adaptations": is_complete(self.adaptations_folder),
        }
        return [part for part, is_there in there.items() if not is_there]

    def build_variables(self, base: Mapping[str, str] = os.environ) -> dict[str, str]:
        """All variables for pip, builds and tools that may import torch but must not load torch-npu."""
        return venv_variables(self.python, self.cuda_standins, base) | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}

    def pip_variables(self) -> dict[str, str]:
        """What keeps pip, and every pip that a build starts, off the network where there is `fetched`."""
        if self.fetched is None:
            return {}
        # A URI, because pip splits the variable at spaces.
        return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.fetched.absolute().as_uri()}

    def variables(self, base: Mapping[str, str] = os.environ, *, adaptations: bool = True) -> dict[str, str]:
        """All variables for a command in this environment: the caller's, with the environment's over them.

        What the caller had in LD_LIBRARY_PATH and PYTHONPATH is left out, so that nothing else is loaded.
        Without `adaptations` the plug-in is not on PYTHONPATH. The build of a tree is first there, whether it
        is made yet or not: see `unbuilt`. Raises UnusableError when something is not installed, or when the
        host's CANN is not the lock's.
        """
        cann = self.cann  # the host's says itself what is wrong with it
        if cann.faults:
            raise UnusableError("\n".join(cann.faults))
        missing = self.missing()
        if not adaptations and "adaptations" in missing:
            missing.remove("adaptations")
        if missing:
            parts = ", ".join(missing)
            raise UnusableError(
                f"environment {self.name}: {parts} not installed; type: npu-assay env install {self.name}"
            )
        variables = self.build_variables(base)
        del variables["TORCH_DEVICE_BACKEND_AUTOLOAD"]  # torch's autoload is what loads torch-npu
        variables["PATH"] = search_path(self.python.parent, cann.tools, base.get("PATH"), *cann.other_tools)
        variables = cann_variables(cann, variables)
        own = None if self.tree is None else self.build_folder / "site"
        plugin = self.adaptations if adaptations else None
        if path := search_path(own, plugin, variables.get("PYTHONPATH")):
            variables["PYTHONPATH"] = path
        return variables


def venv_variables(python: Path, cuda_standins: Path, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """All variables for a command of the venv of this `python`: the caller's, without what would change what
    runs. Where the folder `cuda_standins` is there, torch finds them.
    """
    variables = {name: value for name, value in base.items() if name not in _NOT_INHERITED}
    variables = _UNLESS_SET | variables | _ALWAYS
    variables["PATH"] = search_path(python.parent, base.get("PATH"))
    if cuda_standins.is_dir():
        variables |= _NO_CUDA | {"LD_LIBRARY_PATH": str(cuda_standins)}
    return variables
