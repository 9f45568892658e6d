"""A listing: every file of a tree with its sha256, in the form of SHA256SUMS.

`sha256sum -c` in the tree's folder checks it. What that form has no place for stands in lines that begin with
`#`, which sha256sum skips: `# executable: "NAME"` and `# link: ["NAME", "TARGET"]`, names as JSON strings. A
tree's hash is the sha256 of the listing's bytes, so it covers names, bytes, executable bits and links; times,
owners and other permissions it does not.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from npu_assay.digest import sha256_of
from npu_assay.errors import UsageError
from npu_assay.printable import printable
from npu_assay.sums import parse_sums, render_sums

_EXECUTABLE = b"# executable: "
_LINK = b"# link: "


@dataclass(frozen=True)
class Listing:
    """All files of a tree; names are relative to it, with slashes."""

    files: Mapping[str, str]
    """Name -> sha256, of regular files."""
    executables: frozenset[str] = frozenset()
    """Those of them that their owner may execute."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Name -> target, of symbolic links."""

    @cached_property
    def data(self) -> bytes:
        """The listing's bytes; they depend on nothing but the tree."""
        executables = [_EXECUTABLE + json.dumps(name).encode() + b"\n" for name in sorted(self.executables)]
        links = [
            _LINK + json.dumps([name, target]).encode() + b"\n" for name, target in sorted(self.links.items())
        ]
        return b"".join([render_sums(self.files), *executables, *links])

    @cached_property
    def sha256(self) -> str:
        """The tree's hash."""
        return hashlib.sha256(self.data).hexdigest()


def list_tree(folder: Path) -> Listing:
    """List the files below `folder`. Links are not followed.

    Raises UsageError for what a tree can't hold: devices, pipes, sockets, and links that lead out of it.
    """
    files: dict[str, str] = {}
    executables: set[str] = set()
    links: dict[str, str] = {}
    for here, folders, names in os.walk(folder):
        for entry in (*folders, *names):
            path = Path(here, entry)
            name, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
            if stat.S_ISLNK(mode):
                links[name] = check_link(folder, name, str(path.readlink()))
            elif stat.S_ISREG(mode):
                files[name] = sha256_of(path)
                if mode & stat.S_IXUSR:
                    executables.add(name)
            elif not stat.S_ISDIR(mode):
                raise UsageError(f"{printable(str(path))}: a device, pipe or socket; a tree holds files only")
    return Listing(files, frozenset(executables), links)


def check_link(folder: Path, name: str, target: str) -> str:
    """The target of a link inside `folder`. Raises UsageError where it is absolute or leads out of it."""
    top = folder.resolve()
    try:
        inside = not PurePosixPath(target).is_absolute() and (top / name).parent.joinpath(
            target
        ).resolve().is_relative_to(top)
    except (OSError, RuntimeError, ValueError):  # a loop of links; a null byte
        inside = False
    if not inside:
        raise UsageError(
            f"{printable(name)}: a link to {printable(target)}, outside of the tree; put a file in its place"
        )
    return target


def parse_listing(data: bytes, source: str) -> Listing:
    """Read a listing; `source` names it in messages. Raises UsageError for what is never written."""
    executables: list[str] = []
    links: dict[str, str] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.startswith(b"#"):
            continue
        try:
            if line.startswith(_EXECUTABLE):
                executables += _strings(b"[" + line.removeprefix(_EXECUTABLE) + b"]", 1)
                continue
            if line.startswith(_LINK):
                name, target = _strings(line.removeprefix(_LINK), 2)
                links[name] = target
                continue
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{source}:{number}: {error}") from error
        raise UsageError(f"{source}:{number}: expected {_EXECUTABLE!r} or {_LINK!r}, found {line[:80]!r}")
    listing = Listing(parse_sums(data, source), frozenset(executables), links)
    if listing.data != data:
        raise UsageError(f"{source}: not in the order or the form that npu-assay writes")
    return listing


def _strings(text: bytes, count: int) -> list[str]:
    """A JSON list of so many strings. Raises ValueError."""
    found: list[str] = json.loads(text)
    if not isinstance(found, list) or len(found) != count or not all(isinstance(one, str) for one in found):
        raise ValueError(f"expected {count} strings, found {text[:80]!r}")
    return found
