"""Fields of a JSON object by name and type: a value of another type is an error that names both."""

import math
from dataclasses import dataclass
from typing import Any

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row
from npu_assay.printable import printable


@dataclass(frozen=True)
class Fields:
    """The fields of one JSON object in a file."""

    source: str
    row: Row
    inside: str = ""
    """The object's name, where it stands in another one."""

    def has(self, key: str) -> bool:
        """Whether the field is there; it may be null."""
        return key in self.row.values

    def is_null(self, key: str) -> bool:
        return self.has(key) and self.row.values[key] is None

    def count(self, key: str) -> int:
        """A whole number of at least 0. Raises UsageError for anything else, a bool and 3.0 too."""
        value = self._value(key, "a whole number of at least 0")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "a whole number of at least 0", value)
        return value

    def number(self, key: str) -> float:
        """A finite number. Raises UsageError for anything else."""
        value = self._value(key, "a finite number")
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.wrong(key, "a finite number", value)
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if not math.isfinite(found):  # 1e999 is JSON
            raise self.wrong(key, "a finite number", value)
        return found

    def optional_count(self, key: str) -> int | None:
        """None where there is no such field; null is an error."""
        return self.count(key) if self.has(key) else None

    def optional_number(self, key: str) -> float | None:
        """None where there is no such field; null is an error."""
        return self.number(key) if self.has(key) else None

    def nested(self, key: str) -> "Fields":
        """The fields of an object inside this one."""
        value = self._value(key, "an object")
        if not isinstance(value, dict):
            raise self.wrong(key, "an object", value)
        return Fields(self.source, Row(self.row.line, value), f"{self.inside}{key}.")

    def wrong(self, key: str, expected: str, value: object) -> UsageError:
        """The error that a field is not what it should be."""
        found = printable(_quoted(value))
        return UsageError(f"{self._where()}: expected {self.inside}{key} to be {expected}, found {found}")

    def _value(self, key: str, expected: str) -> Any:
        if not self.has(key):
            known = ", ".join(printable(name[:40]) for name in list(self.row.values)[:12]) or "nothing"
            raise UsageError(
                f"{self._where()}: expected {expected} as {self.inside}{key}, which is missing; found {known}"
            )
        return self.row.values[key]

    def _where(self) -> str:
        return f"{self.source}:{self.row.line}"


def _quoted(value: object) -> str:
    try:
        return repr(value)[:80]
    except (ValueError, RecursionError):  # a whole number of more than 4300 digits; one level too deep
        return f"a value of type {type(value).__name__}"
