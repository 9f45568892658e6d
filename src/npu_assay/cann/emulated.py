"""The emulated CANN: src/emucann, built once for each content of its sources."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from npu_assay.cache import cache_root, content_key, is_complete, make_folder, tree_digest
from npu_assay.cann.provider import Report, Target
from npu_assay.cann.tree import CannTree
from npu_assay.errors import UnusableError
from npu_assay.logged import first_error, run_logged
from npu_assay.project import EMUCANN


@dataclass(frozen=True)
class EmulatedProvider:
    """Builds and installs src/emucann with CMake into `<cache>/emulator/<key>/Ascend`."""

    name: str = "emulated"
    #: Its ops are libtorch's CPU kernels, and CANN's C headers come from the torch-npu wheel.
    needs: tuple[str, ...] = ("torch", "vllm-ascend")
    source: Path = EMUCANN
    cache: Path = field(default_factory=cache_root)

    def key(self, target: Target) -> str:
        """Digest of the sources, the versions built against, the compiler and the architecture."""
        versions = (f"{name}=={version}" for name, version in sorted(target.versions.items()))
        return content_key([tree_digest(self._source()), *versions, compiler(), platform.machine()])

    def folder(self, target: Target) -> Path:
        """The cache folder of this build."""
        return self.cache / "emulator" / self.key(target)

    def locate(self, target: Target) -> CannTree:
        """Where the tree for this target is or will be."""
        return CannTree.laid_out(self.folder(target) / "Ascend")

    def ready(self, target: Target) -> bool:
        """Whether it is built."""
        return is_complete(self.folder(target))

    def provide(self, target: Target, report: Report) -> CannTree:
        """Build it if it is not built. Raises UnusableError with the first error and where the log is."""
        folder = self.folder(target)

        def make(folder: Path) -> Mapping[str, object]:
            return self._build(folder, target)

        def waiting() -> None:
            report(f"waiting for another npu-assay that builds the emulator in {folder}")

        make_folder(folder, make, waiting)
        return CannTree.laid_out(folder / "Ascend")

    def _source(self) -> Path:
        if not (self.source / "CMakeLists.txt").is_file():
            raise UnusableError(
                f"{self.source}: no CMakeLists.txt; npu-assay builds the emulator from its own checkout"
            )
        return self.source

    def _build(self, folder: Path, target: Target) -> Mapping[str, object]:
        started = time.monotonic()
        site, build, log = target.site_packages, folder / "build", folder / "build.log"
        # A copy, so that the build stands for this content and for no checkout, which may move on.
        source = folder / "src" / "emucann"
        shutil.copytree(self.source, source, ignore=shutil.ignore_patterns("build", "__pycache__"))
        # Scripts that the build runs must not load torch-npu when they import torch: there is no CANN yet.
        variables = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        steps = {
            "configuring the emulator": [
                *("cmake", "-S", str(source), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release"),
                "-DBUILD_TESTING=OFF",  # so that GoogleTest is needed by tests alone
                *compiler_cache(variables),
                f"-DEMUCANN_TORCH_DIR={site / 'torch'}",
                f"-DEMUCANN_TORCH_NPU_DIR={site / 'torch_npu'}",
                f"-DEMUCANN_VLLM_ASCEND_DIR={site / 'vllm_ascend'}",
                f"-DEMUCANN_PYTHON={target.python}",
                f"-DCMAKE_INSTALL_PREFIX={folder / 'Ascend'}",
            ],
            "building the emulator": [
                "cmake",
                "--build",
                str(build),
                "-j",
                str(len(os.sched_getaffinity(0))),
            ],
            "installing the emulator": ["cmake", "--install", str(build)],
        }
        for doing, command in steps.items():
            run_logged(command, log, doing=doing, variables=variables, telling=first_error)
        tree = CannTree.laid_out(folder / "Ascend")
        return {
            "innerversion": tree.innerversion(),
            "source": str(self.source),
            "compiler": compiler(),
            "built_against": dict(target.versions),
            "seconds": round(time.monotonic() - started, 1),
        }


def compiler() -> str:
    """The C++ compiler that CMake will take, and its version: the first line of `c++ --version`."""
    command = os.environ.get("CXX") or "c++"
    try:
        said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UnusableError(
            f"no C++ compiler: can't run {command} --version; install g++ or set CXX"
        ) from error
    return said.splitlines()[0]


def compiler_cache(variables: Mapping[str, str]) -> tuple[str, ...]:
    """CMake's options for ccache, where it is on PATH: a changed emulator then compiles only what changed."""
    found = any((Path(p) / "ccache").is_file() for p in variables.get("PATH", "").split(os.pathsep))
    return ("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",) if found else ()
