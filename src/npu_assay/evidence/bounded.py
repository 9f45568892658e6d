"""Files of an archive, read in little memory whatever their size: others may have written them."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from npu_assay.errors import UsageError

#: Bytes that are read together.
CHUNK = 1 << 16
#: Bytes after a chunk in which the end of its last line is looked for.
REST_OF_LINE = 1 << 14


def bounded(file: BinaryIO) -> Iterator[bytes]:
    """A file in chunks of bounded size, which end where a line ends if lines are not very long.

    Iterating over the file would hold all of a long line.
    """
    while chunk := file.read(CHUNK):
        yield chunk + file.readline(REST_OF_LINE)


def chunks_of(path: Path, name: str) -> Iterator[bytes]:
    """The file at `path` as `bounded` gives it.

    Raises UsageError that begins with `name` when the file can't be read.
    """
    try:
        with path.open("rb") as file:
            yield from bounded(file)
    except OSError as error:
        raise UsageError(f"{name}: can't be read ({error.strerror})") from error
