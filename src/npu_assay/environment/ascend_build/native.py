"""The native cache: what compilers make of a tree's csrc, CANN's and the host's, kept by all that goes in.

A tree that differs only in its Python has the same key, takes the compiled parts from here, and compiles
nothing.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from npu_assay.cache import content_key, is_complete, make_folder
from npu_assay.digest import sha256_of
from npu_assay.environment.ascend_build.edits import Edited, Surroundings, apply_edits
from npu_assay.environment.ascend_build.preflight import (
    HCCL_VARIABLE,
    hccl_header,
    may_download,
    needs_hccl_header,
)
from npu_assay.environment.ascend_build.soc import WITH_KERNELS, Soc
from npu_assay.environment.ascend_build.toolchain import Toolchain
from npu_assay.environment.ascend_build.torch_cmake import torch_for_cmake
from npu_assay.environment.ascend_build.variables import setup_variables, work_variables
from npu_assay.environment.ascend_build.wheels import (
    Member,
    build_wheel,
    compiled_members,
    tag_of,
    write_parts,
)
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.errors import AssayError, UnusableError
from npu_assay.source.native import native_parts
from npu_assay.source.tree import SourceTree

Report = Callable[[str], None]

#: The package's own folder of operators, and its two libraries.
_MODULE, _KERNELS, _OPERATORS = "vllm_ascend_C", "libvllm_ascend_kernels.so", "_cann_ops_custom/vendors/"
#: Part of the key: changes when what is kept, or how it is made, changes.
_FORM = "1"


@dataclass(frozen=True)
class Native:
    """Compiled parts that are in the cache or will be."""

    environment: Environment
    tree: SourceTree
    soc: Soc
    toolchain: Toolchain

    @cached_property
    def key(self) -> str:
        """A digest of native sources, edits, chip and everything that compiles."""
        header = self._hccl_header()
        return content_key(
            [
                _FORM,
                native_parts(self.tree.listing()).sha256,
                *(f"{edit.path} {edit.after}" for edit in self.edits()),
                self.soc.name,
                *(f"{name}: {value}" for name, value in self.toolchain.identity().items()),
                sha256_of(header) if header else "",
            ]
        )

    @property
    def folder(self) -> Path:
        """native/<key>."""
        return self.environment.cache / "native" / self.key

    @property
    def parts(self) -> Path:
        """The compiled files, named as in a wheel."""
        return self.folder / "parts"

    @property
    def log(self) -> Path:
        """What pip, CMake and the compilers said."""
        return self.folder / "build.log"

    def is_made(self) -> bool:
        """Whether they are there, whole."""
        return is_complete(self.folder)

    def edits(self) -> tuple[Edited, ...]:
        """The edits that the tree needs here, found without writing."""
        return apply_edits(self.tree.files, self._surroundings(), write=False)

    def make(self, report: Report) -> bool:
        """Compile them if they are not there; says whether it did. Raises AssayError: the first error."""
        return make_folder(
            self.folder,
            self._compile,
            lambda: report(f"waiting for another npu-assay that compiles {self.folder}"),
        )

    def _surroundings(self) -> Surroundings:
        return Surroundings(self.toolchain.torch, self.toolchain.pkg_inc.is_dir())

    def _hccl_header(self) -> Path | None:
        return hccl_header(self.toolchain) if needs_hccl_header(self.tree.files, self.soc) else None

    def _compile(self, folder: Path) -> Mapping[str, object]:
        started = time.monotonic()
        work = folder / "work"
        try:
            copy = copy_tree(self.tree.files, work)
            edits = apply_edits(copy, self._surroundings())
            before = installed(self.environment.site_packages)
            wheel = build_wheel(
                self.environment,
                copy,
                work / "dist",
                self._variables(work),
                folder / "build.log",
                doing=f"compiling vllm-ascend for {self.soc.name}",
            )
            require_unchanged(before, installed(self.environment.site_packages))
            members = compiled_members(wheel)
            require_whole(members, self.soc, folder / "build.log")
            write_parts(members, folder / "parts")
            tag = tag_of(wheel)
        finally:  # what is left of a build that failed is its log
            shutil.rmtree(work, ignore_errors=True)
        return {
            "soc": self.soc.name,
            "device_type": self.soc.device_type,
            "tag": tag,
            "edits": [asdict(edit) for edit in edits],
            "may_download": may_download(self.tree.files),
            **self.toolchain.identity(),
            "files": len(members),
            "seconds": round(time.monotonic() - started, 1),
        }

    def _variables(self, work: Path) -> dict[str, str]:
        header = self._hccl_header()
        return {
            **self.toolchain.variables,
            **work_variables(work),
            **torch_for_cmake(self.environment, work / "torch"),
            **({HCCL_VARIABLE: str(header)} if header else {}),
            **setup_variables(self.soc.name, self.tree.record.version, compiles=True),
        }


def copy_tree(tree: Path, work: Path) -> Path:
    """A copy that a build may write into, in the new folder `work`."""
    copy = work / "vllm-ascend"
    shutil.copytree(tree, copy, symlinks=True)
    return copy


def require_whole(members: list[Member], soc: Soc, log: Path) -> None:
    """Raises AssayError for a wheel that was built without what the chip needs.

    csrc/build_aclnn.sh of 0.18.0 goes on after an error, so that a build can end well without operators.
    """
    names = [member.name for member in members]
    wanted = {_MODULE: any(name.startswith(f"vllm_ascend/{_MODULE}.") for name in names)}
    if soc.device_type in WITH_KERNELS:
        wanted[_KERNELS] = f"vllm_ascend/{_KERNELS}" in names
        wanted[_OPERATORS] = any(_OPERATORS in name for name in names)
    if missing := [name for name, there in wanted.items() if not there]:
        raise AssayError(
            f"what was compiled for {soc.name} is without {', '.join(missing)}, though nothing failed; look"
            f" for the first error in {log}"
        )


def require_unchanged(before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """Raises UnusableError when a build installed, removed or replaced something in the environment.

    An upstream triton beside triton-ascend came that way (vllm-ascend#7359, #7497, #10020).
    """
    if changed := sorted(name for name in {*before, *after} if before.get(name) != after.get(name)):
        raise UnusableError(
            f"the build changed the environment: {', '.join(changed)} came, went or is another version; the"
            " environment is to be made again: npu-assay env install --again"
        )
