"""Files of a model's folder, and why one can't be used: a download or a checkout that stopped half-way.

Links are followed: the cache of huggingface_hub is made of links from snapshots/ into blobs/. What is in a
link's place counts.
"""

import json
import stat
from pathlib import Path
from typing import Any

from npu_assay.errors import UsageError

#: The first line of what git leaves in a file's place where git-lfs did not fetch it
#: (git-lfs, docs/spec.md; such a file is shorter than 1024 bytes).
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
_LFS_POINTER_BYTES = 1024


def check_file(path: Path) -> None:
    """Raises UsageError where it is no file that can be read, is empty, or stands for another."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(len(_LFS_POINTER)) if stat.S_ISREG(status.st_mode) else b""
    except FileNotFoundError as error:
        if path.is_symlink():
            raise UsageError(
                f"{path}: a link to {path.readlink()}, which is not there; download the model again"
            ) from error
        raise UsageError(f"{path}: missing; download the model again") from error
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path}: no regular file; name the folder of a model in Hugging Face's layout")
    if status.st_size == 0:
        raise UsageError(f"{path}: empty; download the model again")
    if head == _LFS_POINTER and status.st_size < _LFS_POINTER_BYTES:
        raise UsageError(f"{path}: a git-lfs pointer in the file's place; type there: git lfs pull")


def read_object(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object. Raises UsageError for anything else."""
    check_file(path)
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no JSON ({error}); download the model again") from error
    if not isinstance(value, dict):
        raise UsageError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value
