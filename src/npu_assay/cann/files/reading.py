"""A version file on disk: what it says, or why that can't be read. Nothing is raised: all is reported."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from npu_assay.cann.files.keyed import MalformedFileError
from npu_assay.cann.paths import is_file, is_there, real_path

T = TypeVar("T")

#: The largest seen has under 10 KB.
_LARGEST = 1 << 20


@dataclass(frozen=True)
class VersionFile(Generic[T]):
    """A file that is there; `value` is what it says, or None with the `problem` in one line."""

    path: Path
    """Without links."""
    value: T | None
    problem: str | None = None


def read_version_file(
    path: Path, parse: Callable[[str, str], T], source: str | None = None
) -> VersionFile[T] | None:
    """Read the file, or return None where there is none. Problems name it `source`, else by its path."""
    real = real_path(path)
    source = source or str(real)
    if not is_there(real):
        return None
    try:
        return VersionFile(real, parse(_text(real, source), source))
    except MalformedFileError as error:
        return VersionFile(real, None, str(error))
    except OSError as error:
        return VersionFile(real, None, f"{source}: can't be read ({error.strerror})")


def _text(path: Path, source: str) -> str:
    if not is_file(path):
        raise MalformedFileError(source, None, "not a regular file")
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise MalformedFileError(source, None, f"more than {_LARGEST} bytes; a version file has a few lines")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MalformedFileError(source, line, "not UTF-8") from error
