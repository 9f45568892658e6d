"""Where run packages come from: folders, single files, or a download; each checked before it may run."""

import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.run_packages.makeself import MakeselfHeader, NotMakeselfError, read_makeself
from npu_assay.cann.run_packages.package import RunPackage, Wanted
from npu_assay.digest import sha256_of
from npu_assay.errors import UnusableError, UsageError

Report = Callable[[str], None]

#: The vendor's server refuses a request without it (as cann-container-image's Dockerfiles send it).
_HEADERS: Mapping[str, str] = {"Referer": "https://www.hiascend.com/"}
_SECONDS = 60
_PIECE = 1 << 20


@dataclass(frozen=True)
class Checked:
    """A package that may run."""

    package: RunPackage
    path: Path
    header: MakeselfHeader | None
    """None for one with a header that can't be read, though its sha256 is right."""

    @property
    def size(self) -> int:
        """In bytes."""
        return self.path.stat().st_size


@dataclass(frozen=True)
class Sources:
    """What the user gave: paths, and addresses of folders on servers."""

    paths: tuple[Path, ...] = ()
    addresses: tuple[str, ...] = ()
    downloads: Path = Path()
    """The folder that downloads are kept in; what is there already is not fetched again."""

    @classmethod
    def of(cls, words: Sequence[str], downloads: Path) -> "Sources":
        """From words: addresses begin with http:// or https://. Raises UsageError for a path without file."""
        addresses = tuple(word for word in words if word.startswith(("http://", "https://")))
        paths = tuple(Path(word).absolute() for word in words if word not in addresses)
        for path in paths:
            if not path.exists():
                raise UsageError(f"--from {path}: no such file or folder")
        return cls(paths, addresses, downloads)

    def require(self, package: RunPackage, wanted: Wanted) -> None:
        """Raises UsageError for a package that is in no path, and where there is no address to ask."""
        if not self.addresses and self._local(package) is None:
            raise UsageError(self._nowhere(package, wanted))

    def checked(self, package: RunPackage, wanted: Wanted, report: Report) -> Checked:
        """The package's file, with the sha256 of the lock; see `require`.

        Raises UsageError where it is another file, UnusableError when a download fails.
        """
        return _checked(self._local(package) or self._download(package, report), package, wanted, report)

    def _local(self, package: RunPackage) -> Path | None:
        candidates = [path / package.file if path.is_dir() else path for path in self.paths]
        if self.addresses:
            candidates.append(self.downloads / package.file)
        return next((path for path in candidates if path.name == package.file and path.is_file()), None)

    def _download(self, package: RunPackage, report: Report) -> Path:
        """From the first address that has it."""
        problems = []
        for address in self.addresses:
            url = f"{address.rstrip('/')}/{urllib.parse.quote(package.file)}"
            try:
                return _fetch(url, self.downloads / package.file, report)
            except (OSError, ValueError) as error:  # URLError is an OSError
                problems.append(f"{_without_secrets(url)}: {_reason(error)}")
        raise UnusableError(f"can't download {'; '.join(problems)}")

    def _nowhere(self, package: RunPackage, wanted: Wanted) -> str:
        what = f"{package.part}: {package.file}"
        if not self.paths:
            return f"{what} is to be installed; say where it is: --from DIR, --from FILE or --from URL"
        given = [path.glob("Ascend-cann-*.run") if path.is_dir() else [path] for path in self.paths]
        named = sorted({file.name for files in given for file in files})
        stem = package.file.rpartition(wanted.architecture)[0]
        for name in named:
            if stem and name.startswith(stem):
                return f"{what} is not there; {name} is not for this machine, which is {wanted.architecture}"
        there = f"there is {', '.join(named)}" if named else "there is no Ascend-cann-*.run at all"
        return f"{what} is not in {' or '.join(map(str, self.paths))}; {there}"


def _checked(path: Path, package: RunPackage, wanted: Wanted, report: Report) -> Checked:
    header, problem = _header(path)
    if package.sha256 is None:
        advice = f"; first get the right file: {problem}" if problem else ""
        raise UsageError(
            f"{path}: nobody has recorded its sha256, so it is not run; if you trust it, type:"
            f" {wanted.record} {path}{advice}"
        )
    report(f"checking {path}")
    try:
        found = sha256_of(path)
    except OSError as error:
        raise UsageError(f"{path}: can't be read: {error.strerror}") from error
    if found != package.sha256:
        for architecture, sha256 in package.elsewhere.items():
            if found == sha256:
                problem = f"it is the package for {architecture}, this machine is {wanted.architecture}"
        raise UsageError(
            f"{path}: {f'{problem}; ' if problem else ''}sha256 {found}, the lock says {package.sha256};"
            " nothing was run"
        )
    if problem:  # by its hash it is the vendor's, whatever its header looks like
        report(f"{path}: {problem}; how much room it needs is guessed from its size")
    return Checked(package, path, header)


def _header(path: Path) -> tuple[MakeselfHeader | None, str | None]:
    """The header, or what is wrong with the file."""
    try:
        header = read_makeself(path)
        size = path.stat().st_size
    except NotMakeselfError as error:
        return None, str(error)
    except OSError as error:
        raise UsageError(f"{path}: can't be read: {error.strerror}") from error
    if size < header.size:
        return header, f"cut short: {size} of {header.size} bytes"
    return header, None


def _fetch(url: str, path: Path, report: Report) -> Path:
    """Write what the URL has into the file, whole or not at all. Raises OSError and ValueError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    request = urllib.request.Request(url, headers=dict(_HEADERS))
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            length = answer.headers.get("Content-Length")
            size = f", {int(length) >> 20} MiB" if length else ""
            report(f"downloading {_without_secrets(url)}{size}")
            with draft.open("wb") as file:
                while piece := answer.read(_PIECE):
                    file.write(piece)
                got = file.tell()
        if length is not None and got != int(length):
            raise OSError(f"the server ended after {got} of {length} bytes")
        return draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _without_secrets(url: str) -> str:
    """Without user and password, for messages."""
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server says {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return str(error)
