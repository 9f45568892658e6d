"""JSON Lines: one JSON object a line. A bad row is named by file and line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_assay.errors import UsageError


@dataclass(frozen=True)
class Row:
    """One object of a JSON Lines file and where it stands."""

    line: int
    values: dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All rows of the file. Raises UsageError with file:line for anything but one JSON object a line.

    NaN and Infinity, which Python's json would take, are no JSON and are refused; so is a key twice in a row.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from error
    rows = []
    for number, line in enumerate(data.splitlines(), start=1):
        where = f"{path}:{number}"
        try:
            values = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where}: expected one JSON object, {error}: {line[:80]!r}") from error
        if not isinstance(values, dict):
            raise UsageError(f"{where}: expected a JSON object, found {line[:80]!r}")
        rows.append(Row(number, values))
    return rows


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key stands twice")
    return values
