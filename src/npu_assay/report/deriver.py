"""Which npu-assay derived a file: its version, and a hash of the code and data that decide."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from npu_assay import __version__
from npu_assay.errors import UsageError
from npu_assay.project import ENVIRONMENTS, PIPELINES, ROOT

#: Run by the environment's Python, so without a say in what is derived.
_SUITES = "suites"
_CODE = frozenset({".py", ".toml", ".json", ".css", ".j2"})


@dataclass(frozen=True)
class Deriver:
    """An npu-assay. Of two with the same version, only the hash says whether they would derive the same."""

    version: str
    sha256: str

    def __str__(self) -> str:
        return f"npu-assay {self.version} (sha256:{self.sha256})"


_NAMED = re.compile(r"npu-assay (\S{1,100}) \(sha256:([0-9a-f]{64})\)")


def deriver_named(words: str) -> Deriver:
    """The npu-assay that `str` made these words of. Raises UsageError where they name none."""
    found = _NAMED.fullmatch(words)
    if found is None:
        raise UsageError("it does not say which npu-assay derived it")
    return Deriver(found[1], found[2])


@cache
def this_deriver() -> Deriver:
    """The npu-assay that is running."""
    package = Path(__file__).parents[1]
    files = [
        path
        for path in package.rglob("*")
        if path.suffix in _CODE and path.relative_to(package).parts[0] != _SUITES
    ]
    files += [*ENVIRONMENTS.glob("*.toml"), *PIPELINES.glob("*.toml")]
    digest = hashlib.sha256()
    for path in sorted(files):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{content}  {path.relative_to(ROOT).as_posix()}\n".encode())
    return Deriver(__version__, digest.hexdigest())
