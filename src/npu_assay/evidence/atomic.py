"""Write a file, or a folder, whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Put data at path through a temporary file beside it and a rename; a failure leaves nothing behind."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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
