"""npu-smi's boxed tables: rows between bars, read by the names in their header.

A box ends with a rule. A text that ends elsewhere was cut short: its last line may be part of a row, of which
only what a bar or a blank follows is known to be whole.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from npu_assay.device.npu_smi.cut import CutShort
from npu_assay.device.npu_smi.errors import UnknownLayoutError


class Form(Enum):
    """What the values of a column look like."""

    WORD = r"(\S+)"
    USAGE = r"([0-9]+\s*/\s*[0-9]+|NA|N/A|-)"
    TEXT = r"(.*?)"
    """Words with spaces between them: only as the last column of its cell."""

    # Narrower ones, for tables whose columns have no names to tell them by.
    NATURAL = r"([0-9]+)"
    MEASURE = r"(-?[0-9]+(?:\.[0-9]+)?|NA|N/A|-)"
    ADDRESS = r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|NA|N/A|-)"
    HEALTH = r"(OK|Warning|Alarm|Critical|UNKNOWN)"
    NAME = r"([A-Za-z0-9][\w.-]*(?: [\w.-]+)*)"


Vocabulary = Mapping[str, Form]
"""The columns that are known, by name. A header is made of these and nothing else."""


@dataclass(frozen=True)
class Row:
    """One line between bars."""

    line: str
    cells: tuple[str, ...]
    """Those that a bar closes."""
    rest: str | None = None
    """What follows the last bar when the text ends within the row."""
    follows_rule: bool = False


@dataclass(frozen=True)
class Boxes:
    """The rows of all boxes in a text, and how it ends."""

    rows: tuple[Row, ...]
    end: CutShort
    """The last line, for the case that something is missing after it."""
    closed: bool
    """Whether that line is a rule, and a whole one."""
    closed_lightly: bool
    """Whether that rule is one of `-`, which more rows or another box follow."""


@dataclass(frozen=True)
class Header:
    """The columns of each cell of a row."""

    cells: tuple[tuple[str, ...], ...]
    vocabulary: Vocabulary

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for cell in self.cells for name in cell)

    def is_whole(self, row: Row) -> bool:
        """Whether a row that may be the last of a text that was cut short has all of its cells."""
        return row.rest is None and len(row.cells) == len(self.cells)

    def read(self, row: Row, source: str) -> dict[str, str]:
        """A row's values by column. Raises UnknownLayoutError when it does not fit."""
        if not self.is_whole(row):
            raise UnknownLayoutError(source, row.line, f"{len(self.cells)} cells")
        values = self._closed(row)
        if isinstance(values, tuple):
            raise UnknownLayoutError(source, row.line, f"values for {', '.join(values) or 'no column'}")
        return values

    def fits(self, row: Row) -> bool:
        return self.is_whole(row) and isinstance(self._closed(row), dict)

    def read_part(self, row: Row) -> dict[str, str] | None:
        """The values that are whole in a row that is not; None when what is there does not fit."""
        if len(row.cells) > len(self.cells):
            return None
        values = self._closed(row)
        if isinstance(values, tuple):
            return None
        is_open = row.rest is not None and len(row.cells) < len(self.cells)
        names = self.cells[len(row.cells)] if is_open else ()
        for count in range(len(names), 0, -1):
            forms = [self.vocabulary[name] for name in names[:count]]
            if Form.TEXT in forms or Form.NAME in forms:  # whose end only the bar shows
                continue
            if found := re.fullmatch(_joined(forms) + r"\s.*", (row.rest or "").lstrip()):
                return values | dict(zip(names, found.groups(), strict=False))
        return values

    def _closed(self, row: Row) -> dict[str, str] | tuple[str, ...]:
        """Values of the cells that are closed; or the columns of the first cell that does not fit."""
        values: dict[str, str] = {}
        for names, cell in zip(self.cells, row.cells, strict=False):
            found = re.fullmatch(_joined([self.vocabulary[name] for name in names]), cell)
            if found is None:
                return names
            values.update(zip(names, found.groups(), strict=True))
        return values


def _joined(forms: list[Form]) -> str:
    return r"\s+".join(form.value for form in forms)


def is_rule(line: str) -> bool:
    """A horizontal line of the box."""
    stripped = line.strip()
    return len(stripped) > 2 and set(stripped) <= set("+-=|") and bool(set(stripped) & set("-="))


def boxes_of(text: str, source: str) -> Boxes:
    """Read all boxes of a text. Raises UnknownLayoutError for a line that is of none."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows: list[Row] = []
    rules: list[str] = []
    follows_rule = False
    for at, (_, line) in enumerate(lines):
        is_last = at == len(lines) - 1
        if is_rule(line) or (is_last and line.strip() in ("+", "+-", "+=")):
            rules.append(line.strip())
        else:
            rows.append(_row(line, follows_rule, is_last, source))
        follows_rule = is_rule(line)
    number, last = lines[-1] if lines else (0, "")
    closed = is_rule(last) and _is_whole_rule(rules, rows)
    return Boxes(tuple(rows), CutShort(number, last), closed, closed and "=" not in last)


def _is_whole_rule(rules: list[str], rows: list[Row]) -> bool:
    """Whether the last rule reaches as far as those before it, or as far as the rows."""
    lengths = [len(rule) for rule in rules[:-1]] or [len(row.line.strip()) for row in rows]
    rule = rules[-1]
    return rule[0] == rule[-1] and len(rule) >= min(lengths, default=0)


def _row(line: str, follows_rule: bool, is_last: bool, source: str) -> Row:
    stripped = line.strip()
    is_closed = len(stripped) > 1 and stripped[-1] == "|"
    if stripped[0] != "|" or not (is_closed or is_last):
        raise UnknownLayoutError(source, line, "a row between bars")
    *cells, rest = stripped[1:].split("|") if is_closed else line.lstrip()[1:].split("|")
    return Row(line, tuple(cell.strip() for cell in cells), None if is_closed else rest, follows_rule)


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
