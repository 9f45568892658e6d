"""Building an image in an engine of its own, from a copy of the checkout in which something is changed."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from source_first import source_first

from npu_assay.disk import require_free
from npu_assay.errors import AssayError, UnusableError
from npu_assay.logged import run_logged
from npu_assay.project import ROOT

# The engine is that of the tests.
sys.path.insert(0, str(ROOT / "tests" / "docker"))
import own_daemon
from committed import copy_committed
from debian_base import make_base
from engine import NAME, Build, Engine, find_client, missing

#: Debian's packages, which the image starts from.
MACHINE = "machine-x86_64"
TARGET = "cann900-vllm018-emulated-x86_64"
PLUG_IN = Path("src/vllm_ascend_params/vllm_ascend_params")
DOCKERFILE = Path("docker", "Dockerfile")
#: Beside the real one, with its ignore file: BuildKit takes that by the name of the Dockerfile.
SOURCE_FIRST = Path("docker", "source-first.Dockerfile")
_SPACE_MIB = 13_000

#: A patch that no build has seen; it adds a file, so that it applies to whatever vllm-ascend there is.
_PATCH = """\
--- /dev/null
+++ b/vllm_ascend/npu_assay_benchmark.py
@@ -0,0 +1 @@
+# {line}
"""


@dataclass(frozen=True)
class Sources:
    """What is changed between builds."""

    checkout: Path
    """A copy of the checkout."""
    patches: Path
    """What the bake file's variable PATCHES names."""

    def change_plug_in(self) -> None:
        """Another line in the plug-in, which no build has seen."""
        with (self.checkout / PLUG_IN / "__init__.py").open("a") as file:
            file.write(f"# {uuid4()}\n")

    def change_patch(self) -> None:
        """Another line in the patch."""
        self.patches.mkdir(exist_ok=True)
        (self.patches / "0001-benchmark.patch").write_text(_PATCH.format(line=uuid4()))


CHANGES: Mapping[str, Callable[[Sources], None]] = {
    "a line of the plug-in": Sources.change_plug_in,
    "a line of a patch": Sources.change_patch,
}


def copy_checkout(folder: Path) -> None:
    """The checkout as it is, but what git ignores; with the Dockerfile of the other order beside ours."""
    copy_committed(folder)
    (folder / SOURCE_FIRST).write_text(source_first((folder / DOCKERFILE).read_text()))
    shutil.copy(folder / f"{DOCKERFILE}.dockerignore", folder / f"{SOURCE_FIRST}.dockerignore")


@dataclass(frozen=True)
class Bakery:
    """An engine, and what it builds from."""

    engine: Engine
    sources: Sources
    base: str
    fetched: Path

    def build(self, dockerfile: Path) -> float:
        """Seconds until there is an image that can be run.

        It has no network, so that none is measured. Raises AssayError with the last lines of one that fails.
        """
        variables = {"BASE": self.base, "FETCHED": self.fetched, "PATCHES": self.sources.patches}
        started = time.monotonic()
        build = self.engine.bake(
            TARGET,
            variables={name: str(value) for name, value in variables.items()},
            sets=[f"*.dockerfile={dockerfile}"],
            checkout=self.sources.checkout,
            network="none",
        )
        seconds = time.monotonic() - started
        _require(build, TARGET)
        return seconds

    def forget(self) -> None:
        """Remove what builds left but the base: the next one is as cold as the first."""
        self.engine.docker("image", "rm", "--force", f"{NAME}:{TARGET}-own")
        self.engine.docker("image", "prune", "--force")
        self.engine.docker("builder", "prune", "--all", "--force")


def _require(build: Build, target: str) -> None:
    if build.returncode != 0:
        end = "\n".join(build.log.splitlines()[-20:])
        raise AssayError(f"building {target} ended with exit code {build.returncode}:\n{end}")


@contextmanager
def bakery(scratch: Path, fetched: Path | None) -> Iterator[Bakery]:
    """An engine that has nothing but the base, a copy of the checkout, and all files of the environment."""
    if reason := missing():
        raise UnusableError(reason)
    require_free(scratch, _SPACE_MIB, "building images", "make room, or name another folder with --scratch")
    sources, config = Sources(scratch / "checkout", scratch / "patches"), scratch / "config"
    sources.checkout.mkdir()
    config.mkdir()
    copy_checkout(sources.checkout)
    sources.change_patch()
    if fetched is None:
        fetched = scratch / "fetched"
        command = [
            sys.executable,
            "-m",
            "npu_assay",
            "env",
            "fetch",
            "--device",
            "emulated",
            "--to",
            str(fetched),
        ]
        log = scratch / "fetch.log"
        run_logged(command, log, doing="fetching the environment's files", variables=os.environ)
    try:
        with own_daemon.running(scratch / "engine") as host:
            engine = Engine(host, find_client(config) or "docker", config)
            _require(engine.bake(MACHINE, {"BASE": make_base(engine)}), MACHINE)
            yield Bakery(engine, sources, f"{NAME}:{MACHINE}", fetched.resolve())
    except own_daemon.DaemonError as error:
        raise UnusableError(str(error)) from error
