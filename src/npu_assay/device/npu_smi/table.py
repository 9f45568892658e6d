"""npu-smi's boxed tables: rows between bars, read by the names in their header."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from npu_assay.device.npu_smi.errors import UnknownLayoutError


class Form(Enum):
    """What the values of a column look like."""

    WORD = r"(\S+)"
    USAGE = r"([0-9]+\s*/\s*[0-9]+|NA|N/A|-)"
    TEXT = r"(.*?)"
    """Words with spaces between them: only as the last column of its cell."""


Vocabulary = Mapping[str, Form]
"""The columns that are known, by name. A header is made of these and nothing else."""


@dataclass(frozen=True)
class Row:
    """One line between bars."""

    line: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """The columns of each cell of a row."""

    cells: tuple[tuple[str, ...], ...]
    vocabulary: Vocabulary

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for cell in self.cells for name in cell)

    def read(self, row: Row, source: str) -> dict[str, str]:
        """A row's values by column. Raises UnknownLayoutError when it does not fit."""
        if len(row.cells) != len(self.cells):
            raise UnknownLayoutError(source, row.line, f"{len(self.cells)} cells")
        values: dict[str, str] = {}
        for names, cell in zip(self.cells, row.cells, strict=True):
            forms = [self.vocabulary[name] for name in names]
            found = re.fullmatch(r"\s+".join(form.value for form in forms), cell)
            if found is None:
                raise UnknownLayoutError(source, row.line, f"values for {', '.join(names) or 'no column'}")
            values.update(zip(names, found.groups(), strict=True))
        return values


def is_rule(line: str) -> bool:
    """A horizontal line of the box."""
    stripped = line.strip()
    return len(stripped) > 2 and set(stripped) <= set("+-=|") and bool(set(stripped) & set("-="))


def rows_of(text: str, source: str) -> list[Row]:
    """The rows of all boxes in a text.

    Raises UnknownLayoutError for any other line, and when the last box is not closed: the text was cut short.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [_row(line, source) for line in lines if not is_rule(line)]
    if lines and not is_rule(lines[-1]):
        raise UnknownLayoutError(
            source, lines[-1], "the rule that closes the table; the output was cut short"
        )
    return rows


def _row(line: str, source: str) -> Row:
    stripped = line.strip()
    if len(stripped) < 2 or stripped[0] != "|" or stripped[-1] != "|":
        raise UnknownLayoutError(source, line, "a row between bars")
    return Row(line, tuple(cell.strip() for cell in stripped[1:-1].split("|")))


def header_of(row: Row, vocabulary: Vocabulary) -> Header | None:
    """The header that a row is, or None when it holds anything but known columns, each once."""
    longest_first = sorted(vocabulary, key=len, reverse=True)
    name = re.compile("|".join(map(re.escape, longest_first)) + r"|\S+")
    cells = tuple(tuple(name.findall(" ".join(cell.split()))) for cell in row.cells)
    columns = [column for cell in cells for column in cell]
    known = bool(columns) and all(column in vocabulary for column in columns)
    if not known or len(set(columns)) != len(columns):
        return None
    for cell in cells:
        if any(vocabulary[column] is Form.TEXT for column in cell[:-1]):
            return None
    return Header(cells, vocabulary)
