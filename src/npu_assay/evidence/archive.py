"""A run archive: where its files stand, how it is made, sealed and checked."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from npu_assay.errors import AssayError, UnusableError, UsageError
from npu_assay.evidence.atomic import remove_leftovers, write_atomically
from npu_assay.evidence.contents import contents_of, hash_files
from npu_assay.printable import printable
from npu_assay.source.archived import ArchivedSource
from npu_assay.sums import parse_sums, render_sums
from npu_assay.whole import read_whole

#: Derived from the rest, so that they may be written after the seal; at the archive's root only.
UNSEALED = frozenset({"SHA256SUMS", "statement.intoto.json", "report.html", "report.md"})

#: Bytes of the largest SHA256SUMS: a million files with long names.
_MOST_OF_SUMS = 256 << 20


@dataclass(frozen=True)
class Archive:
    """The layout of a run archive under root. Names of files only; nothing here says that they exist."""

    root: Path

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def merged(self) -> Path:
        """Which shards it was joined from, in an archive that has no manifest.json of its own."""
        return self.root / "merged.json"

    @property
    def is_merged(self) -> bool:
        return self.merged.is_file()

    @property
    def shards(self) -> Path:
        """The archives of a merged one."""
        return self.root / "shards"

    @property
    def sums(self) -> Path:
        return self.root / "SHA256SUMS"

    @property
    def junit(self) -> Path:
        return self.root / "junit.xml"

    @property
    def environment(self) -> Path:
        return self.root / "environment.json"

    @property
    def lock(self) -> Path:
        """The lock of the run's environment, as it was read."""
        return self.root / "inputs" / "lock.toml"

    @property
    def pipeline(self) -> Path:
        """The pipeline file, as it was read."""
        return self.root / "inputs" / "pipeline.toml"

    @property
    def image(self) -> Path:
        """The image that the run was in, where it was in one."""
        return self.root / "image.json"

    @property
    def device(self) -> Path:
        return self.root / "device"

    @property
    def device_after(self) -> Path:
        """What npu-smi said when all other stages had ended."""
        return self.device / "after"

    @property
    def cann(self) -> Path:
        """Version files of the CANN that the run used."""
        return self.root / "cann"

    @property
    def source(self) -> ArchivedSource:
        """The run's vllm-ascend: record, listing, patches."""
        return ArchivedSource(self.root / "source")

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def work(self) -> Path:
        """Scratch folders of the running stages, logs and caches; gone when the archive is sealed."""
        return self.root / "work"

    def stage_log(self, stage: str) -> Path:
        return self.root / "stages" / f"{stage}.log"

    def stage_inputs(self, stage: str) -> Path:
        """The models and datasets that the stage read."""
        return self.root / "stages" / f"{stage}.inputs.json"

    def plog(self, stage: str) -> Path:
        """CANN's logs of a stage that failed."""
        return self.root / "plog" / stage

    def stage_junit(self, stage: str) -> Path:
        return self.root / "stages" / f"{stage}.junit.xml"


@dataclass(frozen=True)
class Discrepancy:
    """One way in which an archive and its SHA256SUMS disagree."""

    name: str
    problem: str

    def __str__(self) -> str:
        return f"{printable(self.name)}: {self.problem}"


def create_archive(root: Path) -> Archive:
    """Make an empty archive.

    Raises UsageError when root can't be written or holds anything already, UnusableError when the disk is
    full.
    """
    archive = Archive(root.absolute())
    try:
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise UsageError(f"{root}: not empty; an archive needs a new folder, choose another with --out")
        for folder in (archive.device, archive.results, archive.work, archive.root / "stages"):
            folder.mkdir()
    except OSError as error:
        kind = UnusableError if error.errno in (errno.ENOSPC, errno.EDQUOT) else UsageError
        raise kind(
            f"{root}: no archive can be written here ({error.strerror}); choose another folder with --out"
        ) from error
    return archive


def write_inputs(archive: Archive, lock: bytes, pipeline: bytes) -> None:
    """Keep the bytes of which the manifest has the sha256."""
    archive.lock.parent.mkdir()
    archive.lock.write_bytes(lock)
    archive.pipeline.write_bytes(pipeline)


def open_archive(root: Path) -> Archive:
    """An existing archive. Raises UsageError when the folder is none."""
    archive = Archive(root)
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder; name the folder of a run archive")
    if not (archive.manifest.is_file() or archive.is_merged):
        raise UsageError(f"{root}: no manifest.json, so no run archive, or a run that never ended")
    return archive


@contextmanager
def writing(archive: Archive) -> Iterator[None]:
    """Hold the archive for writing: no other process writes to it meanwhile, and those that judge it refuse.

    The lock is flock(2) on the folder, so it ends with the process; what a killed writer left half-written in
    an archive is removed. Raises UsageError where another process writes to the archive, or judges it.
    """
    with _locked(archive.root, fcntl.LOCK_EX, "in use by another npu-assay; wait until that has ended"):
        if archive.manifest.is_file() or archive.is_merged:  # else it is somebody's folder
            remove_leftovers(archive.root)
        yield


@contextmanager
def reading(root: Path) -> Iterator[None]:
    """Hold a folder for judging. Raises UsageError where a process writes to it: there is no verdict yet."""
    with _locked(root, fcntl.LOCK_SH, "another npu-assay is writing to it; wait until that has ended"):
        yield


@contextmanager
def _locked(root: Path, operation: int, held: str) -> Iterator[None]:
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # whoever uses the folder next says what is wrong with it
        yield
        return
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UsageError(f"{root}: {held}") from error
    except OSError:
        pass  # a file system without locks, as some NFS: `run` still takes an empty folder only
    try:
        yield
    finally:
        os.close(descriptor)


def special_files(root: Path) -> list[Path]:
    """What an archive must not hold: symbolic links, pipes, sockets, devices, folders that can't be read."""
    return sorted(root / name for name in contents_of(root).special)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder; nothing happens when it is gone already."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def discard(archive: Archive) -> None:
    """Remove an archive that came to nothing; its folder too, unless it is a mount point."""
    for path in archive.root.iterdir():
        remove(path)
    with suppress(OSError):
        archive.root.rmdir()


def seal(archive: Archive) -> None:
    """Write SHA256SUMS over every file but itself, the statement and the reports, atomically.

    Raises AssayError for what an archive must not hold, OSError for a file that can't be read.
    """
    contents = contents_of(archive.root)
    if contents.special:
        first = archive.root / min(contents.special)
        raise AssayError(f"{first}: an archive holds regular files only; remove it and seal again")
    sums: dict[str, str] = {}
    for name, found in hash_files(archive.root, _sealed(contents.sizes)).items():
        if isinstance(found, OSError):
            raise found
        sums[name] = found
    write_atomically(archive.sums, render_sums(sums))


def read_sums(archive: Archive) -> bytes:
    """The bytes of SHA256SUMS. Raises UsageError when it is missing or far too large."""
    if archive.sums.is_symlink() or not archive.sums.is_file():
        raise UsageError(f"{archive.sums}: missing; write it with `npu-assay archive sums {archive.root}`")
    return read_whole(archive.sums, str(archive.sums), _MOST_OF_SUMS)


def check(archive: Archive) -> list[Discrepancy]:
    """Compare the archive with its SHA256SUMS: changed, missing, unlisted and special files, each by name.

    Raises UsageError when SHA256SUMS is missing or malformed.
    """
    listed = parse_sums(read_sums(archive), str(archive.sums))
    contents = contents_of(archive.root)
    present = _sealed(contents.sizes)
    found = hash_files(archive.root, {name: size for name, size in present.items() if name in listed})
    problems = [
        Discrepancy(name, "not a regular file; an archive holds nothing else") for name in contents.special
    ]
    problems += [Discrepancy(name, "not in SHA256SUMS") for name in present.keys() - listed.keys()]
    for name in listed.keys() - contents.special:
        expected, now = listed[name], found.get(name)
        if now is None:
            problems.append(Discrepancy(name, "in SHA256SUMS, but missing from the archive"))
        elif isinstance(now, OSError):
            problems.append(Discrepancy(name, f"can't be read ({now.strerror})"))
        elif now != expected:
            problems.append(Discrepancy(name, f"changed: sha256 is {now}, SHA256SUMS says {expected}"))
    return sorted(problems, key=str)


def _sealed(sizes: Mapping[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name not in UNSEALED}
