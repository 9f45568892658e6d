"""Write a file, or a folder, whole or not at all."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: What `write_atomically` calls a file that is not whole yet; mkstemp adds eight characters.
_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}\.tmp")


def write_atomically(path: Path, data: bytes) -> None:
    """Put data at path through a temporary file beside it and a rename; a failure leaves nothing behind.

    When this returns the file is on the disk, name and all. A link at path is replaced, not followed.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of writers that were killed; only for whoever holds the folder."""
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(path.name) and not path.is_dir():
            path.unlink()


def _sync_folder(folder: Path) -> None:
    """The rename is an entry of the folder, which has to be written too (fsync(2))."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A folder to be filled; when the block ends it becomes `target`, which must not be there or be empty.

    A failure or an interruption leaves nothing behind. Only a process that is killed leaves the unfinished
    folder, under a name that begins with a dot.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        folder.chmod(0o755)
        yield folder
        folder.rename(target)  # rename(2) replaces an empty folder, and no other
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
