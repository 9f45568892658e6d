"""JUnit XML as pytest wrote it, counted again; every test with the line on which it stands.

The attributes of a suite are held against its cases. Before pytest 9.2 they may differ: a test whose teardown
fails is counted twice but stands there once, and one that fails both in its body and in its teardown is
counted once but stands there twice (pytest issues 3850 and 5891). From 9.0 on, passed subtests are counted
but do not stand there.

The file may be of anybody's making. The parser is expat, which keeps nothing; document types, and with them
entities, are refused, as are other encodings than UTF-8, elements that JUnit doesn't have, and files that are
larger or nested deeper than any of pytest's.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from xml.parsers import expat

from npu_assay.errors import UsageError
from npu_assay.evidence.bounded import CHUNK, read_whole
from npu_assay.printable import printable

#: Bytes of the largest file; it has the output of tests that failed.
MOST_BYTES = 64 << 20
_MOST_CASES = 100_000
_MOST_DEPTH = 8
_MOST_OF_A_MESSAGE = 1000

_PARENTS: dict[str, set[str | None]] = {
    "testsuites": {None},
    "testsuite": {None, "testsuites"},
    "testcase": {"testsuite"},
    "failure": {"testcase"},
    "error": {"testcase"},
    "skipped": {"testcase"},
    "system-out": {"testcase", "testsuite"},
    "system-err": {"testcase", "testsuite"},
    "properties": {"testcase", "testsuite"},
    "property": {"properties"},
}
_ATTRIBUTE_OF_TAG = {"failure": "failures", "error": "errors", "skipped": "skipped"}
#: The words of pytest's junitxml.py, append_error.
_ON_TEARDOWN = "failed on teardown with "


class Outcome(StrEnum):
    """What pytest says of one test, worst last."""

    PASSED = "passed"
    XFAILED = "xfailed"
    SKIPPED = "skipped"
    FAILED = "failed"
    ERROR = "error"


@dataclass(frozen=True)
class Mark:
    """A child of a testcase that says that it did not pass."""

    tag: str
    type: str
    message: str

    @property
    def outcome(self) -> Outcome:
        if self.tag == "skipped":  # pytest writes an expected failure as a kind of skip
            return Outcome.XFAILED if self.type == "pytest.xfail" else Outcome.SKIPPED
        return Outcome.FAILED if self.tag == "failure" else Outcome.ERROR


@dataclass(frozen=True)
class Entry:
    """A testcase."""

    name: str
    """`classname::name`."""
    line: int
    marks: tuple[Mark, ...]

    def has(self, tag: str) -> bool:
        return any(mark.tag == tag for mark in self.marks)

    @property
    def broken_teardown(self) -> bool:
        return any(mark.tag == "error" and mark.message.startswith(_ON_TEARDOWN) for mark in self.marks)


@dataclass(frozen=True)
class TestCase:
    """A test, with the worst that pytest says of it."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    name: str
    outcome: Outcome
    message: str
    line: int


class Reason(StrEnum):
    """pytest's own ways to count."""

    TEARDOWN = "before 9.2, pytest counts a broken teardown in its own way (pytest#3850)"
    SUBTESTS = "from 9.0 on, pytest counts passed subtests, too (unittest's TestCase.subTest)"


@dataclass(frozen=True)
class Mismatch:
    """A way in which the file does not agree with itself."""

    message: str
    line: int
    reason: Reason | None = None
    """Why it may be so all the same."""


@dataclass(frozen=True)
class Suite:
    """A testsuite."""

    line: int
    attributes: dict[str, str]
    entries: tuple[Entry, ...]

    def mismatches(self) -> Iterator[Mismatch]:
        """Attributes that are not what the cases say."""
        counted = {"tests": len(self.entries)}
        for tag, name in _ATTRIBUTE_OF_TAG.items():
            counted[name] = sum(entry.has(tag) for entry in self.entries)
        for name, count in counted.items():
            declared = self.attributes.get(name, "nothing")
            if declared != str(count):
                message = f"<testsuite> says {name}={declared[:40]}, but {count} are in it"
                reason = self._reason(declared) if name == "tests" else None
                yield Mismatch(message + (f": {reason}" if reason else ""), self.line, reason)

    def _reason(self, tests: str) -> Reason | None:
        if tests == str(self._with_teardowns()):
            return Reason.TEARDOWN
        more = re.fullmatch("[0-9]{1,9}", tests) and int(tests) > len(self.entries)
        return Reason.SUBTESTS if more else None

    def _with_teardowns(self) -> int:
        """Before 9.2: what passed is counted, and so is its teardown; but not that of a test that failed."""
        failed = {entry.name for entry in self.entries if entry.has("failure")}
        broken = [entry.name for entry in self.entries if entry.broken_teardown]
        return len(self.entries) + sum(-1 if name in failed else 1 for name in broken)


@dataclass(frozen=True)
class PytestReport:
    """A whole file."""

    suites: tuple[Suite, ...]

    @cached_property
    def tests(self) -> tuple[TestCase, ...]:
        """One a test, in their order: entries with one name are one test, with its worst outcome."""
        worst: dict[str, TestCase] = {}
        for entry in self._entries():
            case = _worst_of(entry)
            known = worst.get(case.name)
            if known is None or _badness(case.outcome) > _badness(known.outcome):
                worst[case.name] = case
        return tuple(worst.values())

    def mismatches(self) -> Iterator[Mismatch]:
        """Everything in which the file does not agree with itself."""
        for suite in self.suites:
            yield from suite.mismatches()
        several = Counter(entry.name for entry in self._entries())
        first: dict[str, Entry] = {}
        for entry in self._entries():
            before = first.setdefault(entry.name, entry)
            failed_and_broken = several[entry.name] == 2 and before.has("failure") and entry.broken_teardown
            if before is not entry and not failed_and_broken:
                yield Mismatch(f"{entry.name} stands there twice, first on line {before.line}", entry.line)

    def _entries(self) -> Iterator[Entry]:
        for suite in self.suites:
            yield from suite.entries


def _badness(outcome: Outcome) -> int:
    return list(Outcome).index(outcome)


def _worst_of(entry: Entry) -> TestCase:
    worst = max(entry.marks, key=lambda mark: _badness(mark.outcome), default=None)
    if worst is None:
        return TestCase(entry.name, Outcome.PASSED, "", entry.line)
    return TestCase(entry.name, worst.outcome, worst.message, entry.line)


def read_pytest_junit(path: Path, name: str = "") -> PytestReport:
    """Read a JUnit file.

    Raises UsageError that begins with `name` (without one, the path), and with the line where there is one: a
    missing, malformed or oversized file, anything that the module's text says is refused.
    """
    name = name or str(path)
    data = read_whole(path, name, MOST_BYTES)
    if (nul := data.find(b"\0")) >= 0:  # expat would guess UTF-16
        line = data.count(b"\n", 0, nul) + 1
        raise UsageError(f"{name}:{line}: not XML in UTF-8 (a NUL byte)")
    reading = _Reading(name)
    try:
        for start in range(0, len(data), CHUNK):
            reading.parser.Parse(data[start : start + CHUNK])
        reading.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise UsageError(f"{name}:{error.lineno}: not XML ({expat.ErrorString(error.code)})") from error
    return PytestReport(tuple(reading.suites))


class _Reading:
    """What has been read so far."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.suites: list[Suite] = []
        self._open: list[str] = []
        self._suite: tuple[int, dict[str, str]] = (0, {})
        self._entries: list[Entry] = []
        self._entry: tuple[int, str] = (0, "")
        self._marks: list[Mark] = []
        self._cases = 0
        # Without namespaces; whatever the declaration says, it is read as UTF-8.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.XmlDeclHandler = self._declaration
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _wrong(self, message: str) -> UsageError:
        return UsageError(f"{self._name}:{self.parser.CurrentLineNumber}: {message}")

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() != "utf-8":
            raise self._wrong(
                f"expected the encoding utf-8, which pytest writes, found {printable(encoding[:40])}"
            )

    def _doctype(self, *_: object) -> None:
        raise self._wrong("expected no document type; JUnit has none, and its entities are not read")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else None
        if parent not in _PARENTS.get(tag, ()):
            expected = "an element of JUnit" if parent else "JUnit's <testsuites>"
            within = f" in <{parent}>" if parent else ""
            raise self._wrong(f"expected {expected}, found <{printable(tag[:40])}>{within}")
        if len(self._open) == _MOST_DEPTH:
            raise self._wrong(f"expected elements at most {_MOST_DEPTH} deep")
        self._open.append(tag)
        match tag:
            case "testsuite":
                self._suite, self._entries = (self.parser.CurrentLineNumber, attributes), []
            case "testcase":
                self._begin_case(attributes)
            case "failure" | "error" | "skipped":
                message = attributes.get("message", "")[:_MOST_OF_A_MESSAGE]
                self._marks.append(Mark(tag, attributes.get("type", ""), message))

    def _begin_case(self, attributes: dict[str, str]) -> None:
        name = "::".join(part for part in (attributes.get("classname"), attributes.get("name")) if part)
        if not name:
            raise self._wrong("expected the testcase to have a name")
        self._cases += 1
        if self._cases > _MOST_CASES:
            raise self._wrong(f"expected at most {_MOST_CASES} tests")
        self._entry, self._marks = (self.parser.CurrentLineNumber, name), []

    def _end(self, tag: str) -> None:
        self._open.pop()
        if tag == "testcase":
            line, name = self._entry
            self._entries.append(Entry(name, line, tuple(self._marks)))
        elif tag == "testsuite":
            line, attributes = self._suite
            self.suites.append(Suite(line, attributes, tuple(self._entries)))
