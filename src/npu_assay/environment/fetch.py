"""Gathering every file of an environment in a folder, with pip, by the user's own settings of pip; and the
repositories of what is built from git. What the launcher installs goes into a folder of its own inside.

pip finds, downloads and checks the files: index, extra indexes, proxy, certificates and credentials are the
user's (environment variables and pip's configuration), and only files of the lock's hashes are kept. A file
appears in the folder whole: pip writes beside it, and what was checked is renamed.
"""

import errno
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cache import folder_lock, writing
from npu_assay.digest import sha256_of
from npu_assay.disk import require_free
from npu_assay.environment import sdist_metadata
from npu_assay.environment.artefacts import Artefact, ByHand, InGit, artefacts, requirement_artefacts
from npu_assay.environment.fetched import (
    LAUNCHER,
    LISTING,
    FetchedFile,
    fits,
    read_fetched,
    write_fetched,
)
from npu_assay.environment.lock import UNVERIFIED
from npu_assay.environment.pip import pip_command
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError, UsageError
from npu_assay.logged import pip_error, run_logged
from npu_assay.project import REQUIREMENTS
from npu_assay.source.offline import gather_commit

#: The newest C library that files are taken for: CANN 9.0.0's own images are Ubuntu 22.04.
_GLIBC = (2, 35)

Report = Callable[[str], None]


@dataclass(frozen=True)
class Gathered:
    """What a fetch has left in the folder."""

    files: tuple[FetchedFile, ...]
    """Everything that fetched.json and the launcher's own list, of this variant and of others."""
    downloaded: int
    """How many of them pip got now."""
    by_hand: tuple[ByHand, ...]
    """What is still to be put there."""


def fetch(
    variant: Variant, folder: Path, architecture: str, report: Report, launcher: Path = REQUIREMENTS
) -> Gathered:
    """Put every file of the variant into `folder`; what is there already is checked and stays.

    `launcher` is the file of what the launcher installs. Raises UnusableError with pip's own error, or that
    the disk is too full.
    """
    needed = artefacts(variant, architecture)
    with _whole_files_only(folder, report) as scratch:
        files = _Files(folder, architecture)
        missing = [one for one in needed.by_pip if not files.has(one.sha256, one.name, one.version)]
        if missing:
            # An installed environment is larger than what it was installed from.
            size = variant.lock.content.disk_mib - files.mebibytes
            require_free(folder, size, f"fetching {variant.lock.name}", "make room, or name another folder")
        left: list[ByHand] = []
        for group in _groups(missing):
            report(f"fetching {_named(group)}")
            try:
                _download(group, variant, architecture, scratch)
            except UnusableError as error:
                if (file := group[0].file) is None:
                    raise
                report(f"{error}; pip's extra-index-url can name the vendor's index")
                left.append(ByHand(group[0].name, file, min(group[0].sha256)))
            else:
                files.take(scratch, group)
        for item in needed.by_hand:
            if not files.has_by_hand(item, variant.component(item.component).version):
                left.append(item)
        files.write()
        launchers = _Files(folder / LAUNCHER, architecture)
        _fetch_launcher(requirement_artefacts(launcher), launchers, variant, scratch, report)
    for source in needed.in_git:
        left += _gather(source, folder, report)
    return Gathered(
        (*files.rows.values(), *launchers.rows.values()), files.taken + launchers.taken, tuple(left)
    )


def _fetch_launcher(
    needed: Sequence[Artefact], files: "_Files", variant: Variant, scratch: Path, report: Report
) -> None:
    """What the launcher installs, for the Python of the variant, which is npu-assay's own."""
    if missing := [one for one in needed if not files.has(one.sha256, one.name, one.version)]:
        report(f"fetching {len(missing)} requirements of npu-assay itself")
        _download(missing, variant, files.architecture, scratch)
        files.take(scratch, missing)
    files.write()


def _gather(source: InGit, folder: Path, report: Report) -> list[ByHand]:
    """Have git bring a component's commit into the folder; where it can't, what a person has to do."""
    try:
        with _writing(folder):
            missing = gather_commit(source.ref, folder, report)
    except UsageError as error:
        report(str(error).removeprefix("--vllm-ascend "))
        return [ByHand(source.component, f"{source.ref.url} at {source.ref.ref}", sha256=None)]
    return [ByHand(source.component, f"{source.ref}: {note}", sha256=None) for note in missing]


class _Files:
    """The folder's files, by their hashes, and the rows of fetched.json."""

    def __init__(self, folder: Path, architecture: str) -> None:
        """Hash what is there; rows of an earlier fetched.json stay where the file is still the same."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self.architecture = architecture
        self._there = _hashed(folder)
        earlier = read_fetched(folder).files if (folder / LISTING).exists() else ()
        self.rows: dict[str, FetchedFile] = {
            row.file: row for row in earlier if self._there.get(row.sha256) == folder / row.file
        }
        self.taken = 0

    @property
    def mebibytes(self) -> int:
        """The size of all that is listed."""
        return sum(row.size for row in self.rows.values()) >> 20

    def has(self, wanted: Iterable[str], component: str, version: str) -> bool:
        """Whether a file with one of these hashes, for the architecture, is there; lists it."""
        there = (one for one in sorted(wanted) if one in self._there)
        sha256 = next((one for one in there if fits(self._there[one].name, self.architecture)), None)
        if sha256 is None:
            return False
        self._list(self._there[sha256], sha256, component, version)
        return True

    def has_by_hand(self, item: ByHand, version: str) -> bool:
        """Whether a person has put this file there, and the lock knows its hash; lists it.

        Raises UnusableError for another file of that name.
        """
        path = self._folder / item.what
        found = next((sha256 for sha256, known in self._there.items() if known == path), None)
        if found is None or item.sha256 in (None, UNVERIFIED):
            return False
        if found != item.sha256:
            raise UnusableError(f"{path}: sha256 {found}, the lock says {item.sha256}")
        self._list(path, found, item.component, version)
        return True

    def take(self, scratch: Path, group: Sequence[Artefact]) -> None:
        """Move the group's files, which are whole, from `scratch` into the folder.

        Raises UnusableError where one has no hash of the lock.
        """
        for sha256, path in _hashed(scratch).items():
            self._there[sha256] = path.replace(self._folder / path.name)
        for artefact in group:
            if not self.has(artefact.sha256, artefact.name, artefact.version):
                raise UnusableError(
                    f"pip downloaded no file of {artefact.name} with a hash that the lock has"
                )
        self.taken += len(group)
        self.write()

    def write(self) -> None:
        """Write fetched.json."""
        write_fetched(self._folder, self.rows.values())

    def _list(self, path: Path, sha256: str, component: str, version: str) -> None:
        size = path.stat().st_size
        self.rows[path.name] = FetchedFile(
            file=path.name, sha256=sha256, size=size, component=component, version=version
        )


@contextmanager
def _whole_files_only(folder: Path, report: Report) -> Iterator[Path]:
    """Holds the folder; gives a new one inside it for what is not whole yet."""
    scratch = folder / ".part"
    waiting = f"waiting for another npu-assay that fetches into {folder}"
    with _writing(folder, {errno.ENOENT, errno.EEXIST}):  # of a new folder in /proc, of a file of that name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".fetch.lock").touch()  # folder_lock would speak of the cache
    with folder_lock(folder / ".fetch", lambda: report(waiting)), _writing(folder):
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _writing(folder: Path, more: Set[int] = frozenset()) -> AbstractContextManager[None]:
    return writing(folder, more, what="the files", advice="make room, or name another folder with --to")


def _hashed(folder: Path) -> dict[str, Path]:
    """sha256 -> file, of all files in the folder."""
    paths = (path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("."))
    return {sha256_of(path): path for path in paths if path.name != LISTING}


def _groups(missing: Sequence[Artefact]) -> Iterator[Sequence[Artefact]]:
    """What pip is asked for at once: the many small requirements together, each component alone, so that an
    interruption costs one of them.
    """
    if requirements := [artefact for artefact in missing if not artefact.is_component]:
        yield requirements
    for artefact in missing:
        if artefact.is_component:
            yield [artefact]


def _named(group: Sequence[Artefact]) -> str:
    first = f"{group[0].name} {group[0].version}{' (source)' if group[0].is_sdist else ''}"
    return first if group[0].is_component else f"{len(group)} requirements"


def _download(group: Sequence[Artefact], variant: Variant, architecture: str, scratch: Path) -> None:
    """Have pip put the group's files into `scratch`; it checks their hashes."""
    log, wanted = scratch.with_name(".fetch.log"), scratch.with_name(".fetch.requirements.txt")
    wanted.write_text("".join(f"{artefact.requirement}\n" for artefact in group))
    run_logged(
        pip_command(
            sys.executable,
            *("download", "--no-deps", "--require-hashes", "--no-build-isolation", "--dest", str(scratch)),
            *("--implementation", "cp", "--python-version", variant.lock.python),
            *(f"--platform={tag}" for tag in platforms(architecture)),
            *(f"--no-binary={artefact.name}" for artefact in group if artefact.is_sdist),
            *("-r", str(wanted)),
        ),
        log,
        doing=f"fetching {_named(group)}: pip download",
        variables=os.environ | {"PYTHONPATH": str(Path(sdist_metadata.__file__).parent)},
        telling=pip_error,
    )
    wanted.unlink()
    log.unlink()


def platforms(architecture: str) -> list[str]:
    """The platform tags of wheels that run on that architecture, the newest C library first (PEP 600)."""
    newest = min(_GLIBC, _own_glibc()) if architecture == platform.machine() else _GLIBC
    oldest = (2, 5) if architecture == "x86_64" else (2, 17)
    tags = [f"manylinux_2_{minor}" for minor in range(newest[1], oldest[1] - 1, -1)]
    legacy = {(2, 5): "manylinux1", (2, 12): "manylinux2010", (2, 17): "manylinux2014"}
    tags += [tag for version, tag in legacy.items() if oldest <= version <= newest]
    return [f"{tag}_{architecture}" for tag in (*tags, "linux")]


def _own_glibc() -> tuple[int, int]:
    name, version = platform.libc_ver()
    parts = version.split(".")
    return (int(parts[0]), int(parts[1])) if name == "glibc" and len(parts) > 1 else _GLIBC
