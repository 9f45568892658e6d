"""Files of keys and values, a pair a line: keys in any order, each once.

CRLF line ends are read as LF: such files come from checkouts and archives that were converted, and no value
ends in a carriage return. Keys that nobody asks for are let be, since every release adds some; a line that is
no pair, a key that stands twice and a control character in a value are errors.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from npu_assay.cann.versions import ReleaseVersion
from npu_assay.errors import UnusableError

_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*", re.ASCII)
_BRACKETS = re.compile(r"\[[^\[\]]+\](?:, ?\[[^\[\]]+\])*")


class MalformedFileError(UnusableError):
    """A version file that does not say what it should; the message begins with the file and the line."""

    def __init__(self, source: str, line: int | None, problem: str) -> None:
        self.source = source
        self.line = line
        super().__init__(f"{source}{'' if line is None else f':{line}'}: {problem}")


@dataclass(frozen=True)
class Entry:
    """A key's value, and where it stands."""

    value: str
    line: int


@dataclass(frozen=True)
class Keyed:
    """The pairs of a file."""

    source: str
    """The file's name, for messages."""
    entries: Mapping[str, Entry]
    any_case: bool
    """Whether keys count in any case; `entries` has them in lower case then."""

    def required(self, key: str) -> str:
        """The key's value. Raises MalformedFileError where it is missing or empty."""
        if (value := self.optional(key)) is None:
            raise MalformedFileError(self.source, None, f"no {key}; expected a line with it")
        return value

    def optional(self, key: str) -> str | None:
        """The key's value, or None where there is no such key. An empty value is an error, not an absence."""
        entry = self.entries.get(self._spelled(key))
        if entry is not None and not entry.value:
            self.refuse(key, f"{key} has no value")
        return entry.value if entry else None

    def version(self, key: str, value: str) -> str:
        """The value that was read for the key, once it is known to be a version."""
        try:
            return ReleaseVersion.parse(value).text
        except ValueError as error:
            self.refuse(key, f"{key}: {error}")

    def bracketed(self, key: str) -> tuple[str, ...] | None:
        """The texts in a list such as `[a],[b]`, in the file's order; None where there is no such key."""
        value = self.optional(key)
        if value is None:
            return None
        if not _BRACKETS.fullmatch(value):
            self.refuse(key, f"{key}: expected [...],[...], found {value!r}")
        return tuple(text.strip() for text in re.findall(r"\[([^\[\]]+)\]", value))

    def refuse(self, key: str, problem: str) -> NoReturn:
        """Raise MalformedFileError about the line of that key."""
        entry = self.entries.get(self._spelled(key))
        raise MalformedFileError(self.source, entry.line if entry else None, problem)

    def _spelled(self, key: str) -> str:
        return key.lower() if self.any_case else key


def read_keyed(text: str, source: str, *, separator: str = "=", any_case: bool = False) -> Keyed:
    """Read lines `key<separator>value`; lines that begin with # and empty ones say nothing.

    Raises MalformedFileError for any other line, and for a key that stands twice.
    """
    entries: dict[str, Entry] = {}
    for number, line in _lines(text):
        key, found, value = (part.strip(" \t") for part in line.partition(separator))
        if not found or not _KEY.fullmatch(key):
            raise MalformedFileError(
                source, number, f"expected a line key{separator}value, found {_shown(line)}"
            )
        if not value.isprintable():
            raise MalformedFileError(source, number, f"{key}: a value of one line, found {_shown(value)}")
        name = key.lower() if any_case else key
        if name in entries:
            raise MalformedFileError(
                source, number, f"{key} stands twice, first in line {entries[name].line}; which one counts?"
            )
        entries[name] = Entry(value, number)
    if not entries:
        raise MalformedFileError(source, None, f"empty; expected lines key{separator}value")
    return Keyed(source, entries, any_case)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something. Only LF ends a line: str.splitlines knows characters that don't."""
    for number, line in enumerate(text.split("\n"), start=1):
        said = line.removesuffix("\r").strip(" \t")
        if said and not said.startswith("#"):
            yield number, said


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
