"""The build of a vllm-ascend on hardware: compiled parts from the native cache, its Python over them, a wheel.

The wheel is kept in builds/<key>/ with its sha256, and installed from there into builds/<key>/site, a folder
for PYTHONPATH. None of this ran on a host with an NPU: it was tried with a stand-in for CANN's toolkit.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from npu_assay.cache import content_key, facts_of, is_complete, make_folder
from npu_assay.device.npu_smi.errors import MissingToolError
from npu_assay.device.query import NpuSmi
from npu_assay.device.soc import find_socs, only_soc
from npu_assay.digest import sha256_of
from npu_assay.environment.ascend_build.native import Native, copy_tree
from npu_assay.environment.ascend_build.preflight import check
from npu_assay.environment.ascend_build.soc import Soc, choose_soc, read_known_socs
from npu_assay.environment.ascend_build.toolchain import Toolchain, find_toolchain
from npu_assay.environment.ascend_build.variables import work_variables
from npu_assay.environment.ascend_build.wheels import (
    build_wheel,
    install_wheel,
    members_of,
    put_together,
    read_parts,
)
from npu_assay.environment.environment import Environment
from npu_assay.errors import UnusableError
from npu_assay.source.tree import SourceTree

Report = Callable[[str], None]

SOC_VARIABLE = "SOC_VERSION"
_BUILD_INFO = "vllm_ascend/_build_info.py"


def soc_for(environment: Environment, tree: Path, base: Mapping[str, str] = os.environ) -> Soc:
    """The chip to build for: that of the dies that npu-smi shows, or what SOC_VERSION says where it shows none.

    Raises UnusableError for one that the tree does not know, a contradiction, dies that differ, and where
    nothing is known.
    """
    folders = (str(environment.cann.tools), base.get("PATH", ""))
    try:
        npu_smi = NpuSmi({**base, "PATH": os.pathsep.join(folder for folder in folders if folder)})
        found = only_soc(find_socs(npu_smi))
    except MissingToolError:  # an image is built where there is no NPU
        found = None
    return choose_soc(read_known_socs(tree), found, base.get(SOC_VARIABLE) or None)


@dataclass(frozen=True)
class HardwareBuild:
    """The build of one tree for one chip, in the cache or to be made."""

    environment: Environment
    tree: SourceTree
    soc: Soc
    toolchain: Toolchain

    @classmethod
    def of(
        cls, environment: Environment, tree: SourceTree, base: Mapping[str, str] = os.environ
    ) -> "HardwareBuild":
        """What to build here. Raises UnusableError as `soc_for` and `find_toolchain` do."""
        toolchain = find_toolchain(environment, base)
        return cls(environment, tree, soc_for(environment, tree.files, base), toolchain)

    @cached_property
    def native(self) -> Native:
        """Its compiled parts."""
        return Native(self.environment, self.tree, self.soc, self.toolchain)

    @cached_property
    def key(self) -> str:
        """A digest of the tree, its version, and the compiled parts."""
        return content_key([self.tree.record.tree_sha256, self.tree.record.version, self.native.key])

    @property
    def folder(self) -> Path:
        """builds/<key>."""
        return self.environment.cache / "builds" / self.key

    @property
    def site(self) -> Path:
        """The folder for PYTHONPATH: package and dist-info."""
        return self.folder / "site"

    def is_made(self) -> bool:
        """Whether it is there, whole."""
        return is_complete(self.folder)

    def what_it_does(self) -> str:
        """A line for who waits for it."""
        if self.native.is_made():
            return f"building vllm-ascend {self.tree.record.version}; its compiled parts are in the cache"
        return (
            f"compiling vllm-ascend {self.tree.record.version} for {self.soc.name} with the CANN in"
            f" {self.toolchain.cann}; how long that takes was never measured on hardware: expect from many"
            f" minutes to some hours; its log is {self.native.log}"
        )

    def make(self, report: Report) -> bool:
        """Make it if it is not there; returns whether it did.

        Raises UnusableError: with a line for everything that is missing, before anything is compiled; with
        the first error and where the log is, afterwards.
        """
        if self.is_made():
            return False
        if not self.native.is_made():
            check(self.environment, self.tree.files, self.soc, self.toolchain)
        report(self.what_it_does())
        return make_folder(
            self.folder,
            lambda folder: self._make(folder, report),
            lambda: report(f"waiting for another npu-assay that makes {self.folder}"),
        )

    def _make(self, folder: Path, report: Report) -> Mapping[str, object]:
        compiled_now = self.native.make(report)
        facts = facts_of(self.native.folder)
        work, log = folder / "work", folder / "build.log"
        try:
            python = build_wheel(
                self.environment,
                copy_tree(self.tree.files, work),
                work / "dist",
                self._variables(work),
                log,
                doing="building vllm-ascend's Python",
            )
            wheel = put_together(python, read_parts(self.native.parts), str(facts["tag"]), folder)
            _require_device_type(wheel, self.soc)
            install_wheel(self.environment, wheel, self.site, self._variables(work), log)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return {
            "tree_sha256": self.tree.record.tree_sha256,
            "version": self.tree.record.version,
            "wheel": wheel.name,
            "wheel_sha256": sha256_of(wheel),
            "native": self.native.key,
            "compiled_now": compiled_now,
            **{name: facts[name] for name in ("soc", "device_type", "edits")},
        }

    def _variables(self, work: Path) -> dict[str, str]:
        return {
            **self.toolchain.variables,
            **work_variables(work),
            "SOC_VERSION": self.soc.name,
            "COMPILE_CUSTOM_KERNELS": "0",
            "SETUPTOOLS_SCM_PRETEND_VERSION": self.tree.record.version,
        }


def _require_device_type(wheel: Path, soc: Soc) -> None:
    """Raises UnusableError where a wheel says that it is for another kind of chip, or for none."""
    said = next((member.data for member in members_of(wheel) if member.name == _BUILD_INFO), b"")
    expected = f"__device_type__ = '{soc.device_type}'".encode()
    if expected not in said.splitlines():
        raise UnusableError(
            f"{wheel.name}: {_BUILD_INFO} says {said.decode(errors='replace').strip()!r}, expected"
            f" {expected.decode()!r} for {soc.name}; did a patch change what setup.py writes there?"
        )
