"""What is known about where a tree comes from."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["lock", "folder", "git", "sdist", "wheel"]


@dataclass(frozen=True)
class Origin:
    """Where the files of an exported tree come from."""

    kind: Kind
    given: str
    """SOURCE, without credentials."""
    commit: str | None = None
    """Of a git checkout or repository."""
    dirty: bool | None = None
    """Whether a checkout's files differ from that commit, or there are others; None without git."""
    sha256: str | None = None
    """Of a source distribution or wheel."""
    tag: str | None = None
    """The nearest tag of a release before the commit, such as v0.18.0."""
    notes: tuple[str, ...] = ()
    """What a user should know of it, in one line each."""
