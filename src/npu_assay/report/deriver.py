"""Which npu-assay derived a file: its version, and a hash of all that decides what it derives."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from npu_assay import __version__
from npu_assay.errors import UsageError
from npu_assay.project import ROOT

#: Of the checkout: the code, templates and data of rules, the data that they judge by, the libraries.
_DECIDES = ("src/npu_assay", "ci/environments", "ci/pipelines", "requirements.txt")


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
    return Deriver(__version__, hash_of_checkout(ROOT))


def hash_of_checkout(root: Path) -> str:
    """The sha256 of names and contents of the checkout's files that decide; compiled Python does not."""
    digest = hashlib.sha256()
    for place in _DECIDES:
        below = [path for path in (root / place).rglob("*") if path.is_file()]
        for path in sorted(below or [root / place]):
            if "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{content}  {path.relative_to(root).as_posix()}\n".encode())
    return digest.hexdigest()
