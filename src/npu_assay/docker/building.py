"""Build an image with `docker buildx bake`, and find out which one it became."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_assay.docker.bake import BAKE_FILE
from npu_assay.docker.build_log import BuildLog
from npu_assay.docker.client import ask, not_started
from npu_assay.docker.identity import inspected
from npu_assay.errors import AssayError, UnusableError
from npu_assay.project import ROOT

#: In the metadata: the image's id, whichever store docker keeps it in.
_DIGESTS = ("containerimage.config.digest", "containerimage.digest")
#: Codes that mean the same inside and outside.
_CODES = range(1, 5)

Say = Callable[[str], None]


class BuildError(AssayError):
    """A build that failed, with the exit code of what failed in it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Bake:
    """A target of the bake file, and what `docker buildx bake` is given besides."""

    target: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    """All of its process, without relative paths: it is started in the checkout."""

    @property
    def command(self) -> tuple[str, ...]:
        """The words, but for options of one call."""
        file = BAKE_FILE.relative_to(ROOT).as_posix()
        return ("buildx", "bake", "--file", file, *self.arguments)


def planned(bake: Bake) -> Mapping[str, Any]:
    """What the target is told, after variables and arguments: tags, args. Raises UnusableError."""
    answer = json.loads(ask(*bake.command, "--print", bake.target, folder=ROOT, variables=bake.variables))
    target: Mapping[str, Any] = answer["target"][bake.target]
    return target


def build(bake: Bake, log: Path, say: Say) -> str:
    """Build it, all output in `log`, a line for each stage that is done; returns a digest that docker knows.

    Raises BuildError with the last line of npu-assay or its launcher from inside the build, or BuildKit's.
    """
    with tempfile.TemporaryDirectory() as folder:
        metadata = Path(folder, "metadata.json")
        options = ("--load", "--progress=plain", "--metadata-file", str(metadata))
        read, code = _watch(bake, options, log, say)
        if code:
            why = read.error.partition(": ")[2] or read.failure or f"exit code {code}"
            inner = read.exit_code if read.error and read.exit_code in _CODES else None
            raise BuildError(f"{why}; all that was said: {log}", inner or UnusableError.exit_code)
        for line in read.untold():
            say(line)
        said = json.loads(metadata.read_bytes())[bake.target]
    for key in _DIGESTS:
        identity = inspected(said.get(key, ""))
        if identity.digest is not None:
            return identity.digest
    raise UnusableError(f"{bake.target}: built, but docker does not have it: {identity.why}")


def _watch(bake: Bake, options: tuple[str, ...], log: Path, say: Say) -> tuple[BuildLog, int]:
    read = BuildLog()
    try:
        running = subprocess.Popen(
            ["docker", *bake.command, *options, bake.target],
            cwd=ROOT,
            env=bake.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise not_started(error) from error
    assert running.stdout is not None
    with running, log.open("wb", buffering=0) as kept:
        try:
            for line in running.stdout:
                kept.write(line)
                if (done := read.feed(line.decode(errors="replace"))) is not None:
                    say(done)
        except BaseException:
            running.terminate()
            raise
    return read, running.returncode


def builder_versions() -> dict[str, str]:
    """Of docker's engine and of buildx. Raises UnusableError."""
    engine = ask("version", "--format", "{{.Server.Version}}").decode().strip()
    buildx = ask("buildx", "version").decode().split()
    return {"docker": engine, "buildx": buildx[1] if len(buildx) > 1 else "unknown"}
