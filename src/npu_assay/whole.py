"""A file read whole, if it is no larger than it may be: others may have written it."""

from pathlib import Path

from npu_assay.errors import UsageError


def read_whole(path: Path, name: str, most: int) -> bytes:
    """The whole file, if it has no more than `most` bytes.

    Raises UsageError that begins with `name` when it has more, or can't be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{name}: can't be read ({error.strerror})") from error
    if len(data) > most:
        raise UsageError(f"{name}: expected at most {most} bytes, found {path.stat().st_size}")
    return data
