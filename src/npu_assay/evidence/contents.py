"""What is in an archive's folder, found and hashed without following a link."""

import errno
import hashlib
import os
import stat
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

#: Files that are hashed at once: sha256 runs outside of Python's lock, so two are nearly twice as fast.
_THREADS = 2
#: Bytes that a thread holds of a file.
_PIECE = 1 << 18


@dataclass(frozen=True)
class Contents:
    """The files below a folder, by their names from there."""

    sizes: Mapping[str, int]
    """Regular file -> its size in bytes when it was found."""
    special: frozenset[str]
    """What an archive must not hold: symbolic links, pipes, sockets, devices, folders that can't be read."""

    @property
    def names(self) -> frozenset[str]:
        """Of all of them."""
        return self.special | self.sizes.keys()


def contents_of(root: Path) -> Contents:
    """Look through a folder. Raises OSError where it can't be read itself."""
    sizes: dict[str, int] = {}
    special: set[str] = set()
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            found = list(os.scandir(root / folder))
        except OSError:
            if not folder:
                raise
            special.add(folder.removesuffix("/"))
            continue
        for entry in found:
            name = folder + entry.name
            mode = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(mode.st_mode):
                sizes[name] = mode.st_size
            elif stat.S_ISDIR(mode.st_mode):
                folders.append(f"{name}/")
            else:
                special.add(name)
    return Contents(sizes, frozenset(special))


def hash_files(root: Path, sizes: Mapping[str, int]) -> dict[str, str | OSError]:
    """The hex sha256 of each of these files, or why it can't be read; two at a time, the largest first."""
    hashing = _Hashing(root, sorted(sizes, key=lambda name: -sizes[name]))
    with ThreadPoolExecutor(_THREADS) as pool:
        try:
            list(pool.map(lambda _: hashing.work(), range(_THREADS)))
        finally:  # Ctrl-C: no thread goes on to the end of a large file
            hashing.stopped = True
    return hashing.found


class _Hashing:
    """A queue of files that threads empty."""

    def __init__(self, root: Path, names: Iterable[str]) -> None:
        self.stopped = False
        self.found: dict[str, str | OSError] = {}
        self._folder = f"{root}/"
        self._left = deque(names)

    def work(self) -> None:
        """Hash files until none is left."""
        buffer = bytearray(_PIECE)
        while not self.stopped:
            try:
                name = self._left.popleft()
            except IndexError:
                return
            try:
                self.found[name] = self._sha256(name, buffer)
            except OSError as error:
                self.found[name] = error

    def _sha256(self, name: str, buffer: bytearray) -> str:
        digest, view = hashlib.sha256(), memoryview(buffer)
        # O_NONBLOCK: what became a pipe after it was found must not be waited for.
        descriptor = os.open(self._folder + name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file any more")
            while not self.stopped and (size := os.readv(descriptor, [buffer])):
                digest.update(view[:size])
        finally:
            os.close(descriptor)
        return digest.hexdigest()
