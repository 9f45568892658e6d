"""SOURCE on the command line: where a vllm-ascend comes from."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)

from npu_assay.errors import UsageError
from npu_assay.printable import printable

FORMS = "a folder, git+URL@REF, a source distribution (.tar.gz) or a wheel (.whl)"

DISTRIBUTION = "vllm-ascend"
#: Of a folder that was exported, beside `tree`: where that comes from.
EXPORTED_ORIGIN = "origin.json"
_SCHEMES = ("https", "http", "ssh", "git", "file")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
#: Some hosts take a token there.
_QUERY = re.compile(r"(://[^\s'\"?#]*)[?#][^\s'\"]*")


@dataclass(frozen=True)
class Folder:
    """A folder with a vllm-ascend in it, a git checkout or not."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Exported:
    """A folder that `npu-assay build --export` wrote: files, and what was known of where they come from."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Url:
    """A git repository's address. Its text is without credentials; `private` has them."""

    public: str
    private: str

    def __str__(self) -> str:
        return self.public

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return self.public.startswith("file:")


@dataclass(frozen=True)
class GitRef:
    """A branch, tag or commit of a repository."""

    url: Url
    ref: str

    def __str__(self) -> str:
        return f"git+{self.url}@{self.ref}"


@dataclass(frozen=True)
class Sdist:
    """A source distribution."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Wheel:
    """A wheel."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


Location = Folder | Exported | GitRef | Sdist | Wheel


def parse_location(text: str) -> Location:
    """Read SOURCE. Raises UsageError with one line for what is none, or is not there."""
    if text.startswith("git+"):
        return _parse_git(text)
    if "://" in text:
        raise _wrong(
            text, f"git+{without_credentials(text)}@REF names a branch, tag or commit of a repository"
        )
    path = Path(text)
    if not text:  # else it would be the current folder
        raise _wrong("''", f"expected {FORMS}")
    if path.is_dir():
        return Exported(path.resolve()) if (path / EXPORTED_ORIGIN).is_file() else Folder(path.resolve())
    if not path.exists():
        raise _wrong(text, f"no such folder or file; expected {FORMS}")
    if path.name.endswith(".tar.gz") and path.is_file():
        return Sdist(path.absolute())
    if path.suffix == ".whl" and path.is_file():
        return Wheel(_checked_wheel(path.absolute()))
    raise _wrong(text, f"expected {FORMS}")


def parse_url(text: str) -> Url:
    """The address of a repository. Raises ValueError for one that git is not asked about."""
    parts = urlsplit(text)
    if parts.scheme not in _SCHEMES:
        raise ValueError(f"expected one of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}")
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise ValueError("expected file:///PATH")
    elif not parts.hostname:
        raise ValueError("no host in it")
    netloc = parts.netloc
    if parts.scheme == "ssh":  # the user's name says which account, and is no secret
        user, at, host = netloc.rpartition("@")
        netloc = user.partition(":")[0] + at + host
    else:
        netloc = netloc.rpartition("@")[2]
    return Url(urlunsplit(parts._replace(netloc=netloc, query="", fragment="")), text)


def without_credentials(text: str) -> str:
    """The text, with nothing left of user names, passwords, queries and fragments in URLs."""
    return _QUERY.sub(r"\1", _USER_INFO.sub("", text))


def _parse_git(text: str) -> GitRef:
    address, at, ref = text.removeprefix("git+").rpartition("@")
    scheme, separator, rest = address.partition("://")
    if not at or not separator or "/" not in rest:
        raise _wrong(text, "expected git+URL@REF, such as git+https://HOST/NAME.git@main")
    if not re.fullmatch(r"[^\s\x00-\x1f\x7f~^:?*\[\\#]+", ref) or ref.startswith("-") or ".." in ref:
        raise _wrong(text, f"{printable(ref.partition('?')[0])!r} is no name of a branch, tag or commit")
    try:
        return GitRef(parse_url(address), ref)
    except ValueError as error:
        raise _wrong(text, f"{error}, found {printable(without_credentials(scheme))}://") from error


def _checked_wheel(path: Path) -> Path:
    try:
        name = parse_wheel_filename(path.name)[0]
    except (InvalidWheelFilename, InvalidSdistFilename, ValueError) as error:
        raise _wrong(str(path), f"no name of a wheel: {error}") from error
    if canonicalize_name(name) != DISTRIBUTION:
        raise _wrong(str(path), f"a wheel of {name}, expected one of {DISTRIBUTION}")
    return path


def _wrong(text: str, why: str) -> UsageError:
    return UsageError(f"--vllm-ascend {printable(without_credentials(text))}: {why}")
