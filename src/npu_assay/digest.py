"""The sha256 of a file: what locks, archives and installations know files by."""

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """The hex digest of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
