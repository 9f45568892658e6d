"""Unpacking source distributions and wheels. What is in them is somebody else's: every name is checked."""

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from npu_assay.digest import sha256_of
from npu_assay.errors import UsageError
from npu_assay.printable import printable
from npu_assay.source.origin import Origin
from npu_assay.source.writer import TreeWriter


def export_sdist(path: Path, into: Path) -> Origin:
    """Unpack what is below the one folder of a source distribution into `into`, a new folder.

    Raises UsageError for a damaged file, and for what a tree does not hold.
    """
    writer = TreeWriter(into, str(path))
    top: str | None = None
    with _damage_named(path), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            first, slash, name = member.name.removeprefix("./").partition("/")
            top = first if top is None else top
            if first != top or first in ("", "..", ".") or not (slash or member.isdir()):
                raise UsageError(
                    f"{path}: {printable(member.name)}: outside of the one folder that it should have"
                )
            if member.isdir():
                continue
            if member.issym():
                writer.link(name, member.linkname)
            elif member.isreg():
                content = archive.extractfile(member)
                assert content is not None, "a regular file has content"
                writer.file(name, content, size=member.size, executable=bool(member.mode & stat.S_IXUSR))
            else:
                raise UsageError(
                    f"{path}: {printable(member.name)}: a hard link, device or pipe; a tree holds files only"
                )
    return Origin(kind="sdist", given=str(path), sha256=sha256_of(path))


def export_wheel(path: Path, into: Path) -> Origin:
    """Unpack a wheel into `into`, a new folder. Raises UsageError as export_sdist does."""
    writer = TreeWriter(into, str(path))
    with _damage_named(path), zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            mode = member.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise UsageError(
                    f"{path}: {printable(member.filename)}: a link or device; a wheel holds files only"
                )
            with archive.open(member) as content:
                writer.file(
                    member.filename, content, size=member.file_size, executable=bool(mode & stat.S_IXUSR)
                )
    return Origin(kind="wheel", given=str(path), sha256=sha256_of(path))


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise _damaged(path, error) from error
    except OSError as error:
        if isinstance(error, PermissionError) or (error.filename is None and error.errno is None):
            raise _damaged(path, error) from error  # gzip's own, which are OSErrors without a number
        raise


def _damaged(path: Path, error: Exception) -> UsageError:
    why = (
        os.strerror(error.errno)
        if isinstance(error, OSError) and error.errno
        else str(error) or "it ends early"
    )
    return UsageError(f"{path}: can't be unpacked: {printable(why)}; get it again")
