"""Writing a tree into a new folder, under names and links that are checked one by one."""

import os
import shutil
from pathlib import Path, PurePosixPath
from typing import IO

from npu_assay.errors import UsageError
from npu_assay.printable import printable
from npu_assay.source.listing import check_link

#: vllm-ascend 0.22.1rc1 unpacks to 50 MiB in 2500 files; this is far beyond any checkout of it.
MAX_BYTES = 4 << 30
MAX_FILES = 200_000


class TreeWriter:
    """Puts files below `folder`, which is new; `origin` names where they come from in messages.

    Every method raises UsageError for a name that is absolute or climbs, that stands twice, is below a link
    or is git's own, and for more than a tree may hold.
    """

    def __init__(self, folder: Path, origin: str) -> None:
        self.folder = folder
        self._origin = origin
        self._bytes = 0
        self._names: set[str] = set()
        self._links: set[str] = set()

    def file(self, name: str, content: IO[bytes], *, size: int, executable: bool) -> None:
        """A regular file of `size` bytes."""
        path = self._new(name, size)
        with path.open("xb") as out:
            shutil.copyfileobj(content, out)
            # What is said about the size of a packed file may be a lie.
            self._count(name, out.tell() - size)
        path.chmod(0o755 if executable else 0o644)

    def link(self, name: str, target: str) -> None:
        """A symbolic link, which has to stay inside."""
        path = self._new(name, 0)
        try:
            check_link(self.folder, name, target)
        except UsageError as error:
            raise UsageError(f"{self._origin}: {error}") from error
        path.symlink_to(target)
        self._links.add(name)

    def _new(self, name: str, size: int) -> Path:
        pure = PurePosixPath(name)
        if not name or pure.is_absolute() or ".." in pure.parts or str(pure) != name or "\0" in name:
            raise self._wrong(name, "climbs out of the tree, or is no plain path")
        if any(part.lower() == ".git" for part in pure.parts):
            raise self._wrong(name, "git's own folder, which no source holds")
        if name in self._names:
            raise self._wrong(name, "stands in it twice")
        if any(str(parent) in self._links for parent in pure.parents):
            raise self._wrong(name, "is below a link")
        self._names.add(name)
        self._count(name, size)
        if len(self._names) > MAX_FILES:
            raise self._wrong(name, f"is one more than {MAX_FILES} files; is that vllm-ascend?")
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise self._wrong(name, "is below a file") from error
        if os.path.lexists(path):
            raise self._wrong(name, "is a folder, too")
        return path

    def _count(self, name: str, size: int) -> None:
        self._bytes += size
        if self._bytes > MAX_BYTES:
            raise self._wrong(name, f"goes beyond {MAX_BYTES >> 30} GiB; is that vllm-ascend?")

    def _wrong(self, name: str, why: str) -> UsageError:
        return UsageError(f"{self._origin}: {printable(name)}: {why}")
