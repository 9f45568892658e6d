"""The build of a vllm-ascend on hardware: its Python over compiled parts of the native cache, as a wheel.

The wheel is kept in builds/<key>/ with its sha256, and installed from there into builds/<key>/site, a folder
for PYTHONPATH. None of this ran on a host with an NPU: it was tried with a stand-in for CANN's toolkit.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.tags import parse_tag, sys_tags

from npu_assay.cache import facts_of, is_complete, make_folder
from npu_assay.cann.variables import search_path
from npu_assay.device.npu_smi.errors import MissingToolError
from npu_assay.device.query import NpuSmi
from npu_assay.device.soc import find_socs, only_soc
from npu_assay.digest import sha256_of
from npu_assay.environment.ascend_build.native import Native, copy_tree
from npu_assay.environment.ascend_build.overlay import BYTE_CODE, require_package
from npu_assay.environment.ascend_build.preflight import check, may_download
from npu_assay.environment.ascend_build.soc import Soc, choose_soc, read_known_socs
from npu_assay.environment.ascend_build.toolchain import Toolchain, find_toolchain
from npu_assay.environment.ascend_build.variables import setup_variables, work_variables
from npu_assay.environment.ascend_build.wheels import (
    build_wheel,
    install_wheel,
    members_of,
    put_together,
    read_parts,
)
from npu_assay.environment.environment import Environment
from npu_assay.errors import AssayError, UnusableError
from npu_assay.source.tree import SourceTree

Report = Callable[[str], None]

SOC_VARIABLE = "SOC_VERSION"
_BUILD_INFO = "vllm_ascend/_build_info.py"


def build_on_hardware(environment: Environment, report: Report) -> None:
    """Make the build of the environment's tree if it is not there.

    Raises UnusableError, before anything is compiled, with a line for everything that is missing; AssayError
    with the first error, and where the log is, for a tree that does not build.
    """
    tree = environment.tree
    assert tree is not None, "only a tree is built"
    if tree.is_wheel:
        make_folder(environment.build_folder, lambda folder: _take_wheel(tree, folder))
    else:
        HardwareBuild.of(environment).make(report)


def soc_for(environment: Environment, tree: Path, base: Mapping[str, str] = os.environ) -> Soc:
    """The chip to build for: that of the dies that npu-smi shows; without an NPU what SOC_VERSION says.

    Raises UnusableError for one that the tree does not know, a contradiction, dies that differ, and where
    nothing is known.
    """
    known, asked, cann = read_known_socs(tree), base.get(SOC_VARIABLE) or None, environment.cann
    try:
        path = search_path(cann.tools, base.get("PATH"), *cann.other_tools)
        dies = find_socs(NpuSmi({**base, "PATH": path}))
    except MissingToolError:  # an image is built where there is no NPU
        dies = ()
    except UnusableError:  # or where npu-smi gets no answer; whoever has named the chip needs none
        if asked is None:
            raise
        dies = ()
    return choose_soc(known, only_soc(dies), asked)


@dataclass(frozen=True)
class HardwareBuild:
    """The build of an environment's tree for one chip, in the cache or to be made."""

    environment: Environment
    tree: SourceTree
    soc: Soc
    toolchain: Toolchain

    @classmethod
    def of(cls, environment: Environment, base: Mapping[str, str] = os.environ) -> "HardwareBuild":
        """What to build here. Raises UnusableError as `soc_for` and `find_toolchain` do."""
        tree = environment.tree
        assert tree is not None, "only a tree is built"
        soc = soc_for(environment, tree.files, base)
        return cls(environment, tree, soc, find_toolchain(environment, base))

    @cached_property
    def native(self) -> Native:
        """Its compiled parts."""
        return Native(self.environment, self.tree, self.soc, self.toolchain)

    @property
    def folder(self) -> Path:
        """builds/<key>: the key is the tree's and the lock's; what compiled it stands in complete.json."""
        return self.environment.build_folder

    @property
    def site(self) -> Path:
        """The folder for PYTHONPATH: package and dist-info."""
        return self.folder / "site"

    def logs(self) -> list[Path]:
        """What compilers and pip said, as far as it got; of compiled parts that were there already, too."""
        return [path for path in (self.native.log, self.folder / "build.log") if path.is_file()]

    def is_made(self) -> bool:
        """Whether it is there, whole, for this chip and of this toolchain."""
        return is_complete(self.folder) and self._fits(facts_of(self.folder))

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
        """Make it if it is not there; returns whether it did. Raises as `build_on_hardware` does."""
        if self.is_made():
            return False
        if not self.native.is_made():
            check(self.environment, self.tree, self.soc, self.toolchain)
        report(self.what_it_does())
        if not self.native.is_made() and (names := may_download(self.tree.files)):
            report(
                f"csrc downloads what of {', '.join(names)} is not in its third_party, which needs a network"
            )
        return make_folder(
            self.folder,
            lambda folder: self._make(folder, report),
            lambda: report(f"waiting for another npu-assay that makes {self.folder}"),
            self._fits,
        )

    def _fits(self, facts: Mapping[str, Any]) -> bool:
        return facts.get("native") == self.native.key

    def _make(self, folder: Path, report: Report) -> Mapping[str, object]:
        compiled_now = self.native.make(report)
        facts = facts_of(self.native.folder)
        work, log = folder / "work", folder / "build.log"
        try:
            variables = self._variables(work)
            python = build_wheel(
                self.environment,
                copy_tree(self.tree.files, work),
                work / "dist",
                variables,
                log,
                doing="building vllm-ascend's Python",
            )
            wheel = put_together(python, read_parts(self.native.parts), str(facts["tag"]), folder)
            _require_device_type(wheel, self.soc)
            install_wheel(self.environment, wheel, self.site, variables, log)
            require_package(self.site)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return {
            "tree_sha256": self.tree.record.tree_sha256,
            "version": self.tree.record.version,
            "wheel": wheel.name,
            "wheel_sha256": sha256_of(wheel),
            "native": self.native.key,
            "compiled_now": compiled_now,
            "compiled": facts,
        }

    def _variables(self, work: Path) -> dict[str, str]:
        return {
            **self.toolchain.variables,
            **work_variables(work),
            **setup_variables(self.soc.name, self.tree.record.version, compiles=False),
        }


def _require_device_type(wheel: Path, soc: Soc) -> None:
    """Raises AssayError where a wheel says that it is for another kind of chip, or for none."""
    said = next((member.data for member in members_of(wheel) if member.name == _BUILD_INFO), b"")
    expected = f"__device_type__ = '{soc.device_type}'".encode()
    if expected not in said.splitlines():
        raise AssayError(
            f"{wheel.name}: {_BUILD_INFO} says {said.decode(errors='replace').strip()!r}, expected"
            f" {expected.decode()!r} for {soc.name}; did a patch change what setup.py writes there?"
        )


def _take_wheel(tree: SourceTree, folder: Path) -> Mapping[str, object]:
    """A wheel that somebody else has built is taken as it is, where this Python and machine can load it."""
    metadata = next(tree.files.glob("*.dist-info/WHEEL"), None)
    lines = metadata.read_text(errors="replace").splitlines() if metadata else []
    tags = [line.partition(":")[2].strip() for line in lines if line.startswith("Tag:")]
    if not {one for tag in tags for one in parse_tag(tag)} & set(sys_tags()):
        raise UnusableError(
            f"{tree.record.given}: is for {', '.join(tags) or 'nothing'}, which this machine and its Python"
            " can't load; give a wheel for them, or sources"
        )
    shutil.copytree(tree.files, folder / "site", symlinks=True, ignore=shutil.ignore_patterns(BYTE_CODE))
    return {
        "tree_sha256": tree.record.tree_sha256,
        "version": tree.record.version,
        "wheel_sha256": tree.record.sha256,
    }
