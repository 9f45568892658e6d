"""JSON Lines: one JSON object a line. A bad row is named by file and line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_assay.errors import UsageError
from npu_assay.evidence.bounded import chunks_of
from npu_assay.evidence.json_text import load_json

#: Bytes of the longest row that `rows_of` takes: a detailed benchmark result has every token's latency.
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Row:
    """One object of a JSON Lines file and where it stands."""

    line: int
    values: dict[str, Any]


def read_rows(path: Path, name: str = "", most: int = MOST_BYTES) -> Iterator[Row]:
    """The rows of a file, one after the other, of at most `most` bytes each.

    Raises UsageError with name:line (without a name, the path) for anything but one JSON object a line: NaN
    and Infinity, which Python's json would take, are no JSON and are refused; so is a key twice in a row.
    """
    name = name or str(path)
    return rows_of(chunks_of(path, name), name, most)


def rows_of(chunks: Iterable[bytes], source: str, most: int = MOST_BYTES) -> Iterator[Row]:
    """The rows of a file in chunks, of which a line feed ends a row: no more than one is in memory.

    Raises UsageError as `read_rows`, and for a row of more than `most` bytes.
    """
    number, held = 1, bytearray()
    for chunk in chunks:
        for part in chunk.splitlines(keepends=True):
            held += part
            if len(held) > most:
                raise UsageError(f"{source}:{number}: expected a JSON object of at most {most} bytes")
            if part.endswith(b"\n"):
                yield Row(number, parse_object(bytes(held).rstrip(b"\r\n"), f"{source}:{number}"))
                number, held = number + 1, bytearray()
    if held:
        yield Row(number, parse_object(bytes(held), f"{source}:{number}"))


def parse_object(data: bytes, where: str) -> dict[str, Any]:
    """One JSON object in UTF-8. Raises UsageError that begins with `where`."""
    try:
        text = data.decode()  # json would guess UTF-16 and others
        values = load_json(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: expected one JSON object, {error}: {data[:80]!r}") from error
    if not isinstance(values, dict):
        raise UsageError(f"{where}: expected a JSON object, found {data[:80]!r}")
    return values
