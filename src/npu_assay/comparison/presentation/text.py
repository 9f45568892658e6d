"""Sections as text: the same on a terminal and in a file, lines are never cut."""

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from npu_assay.comparison.comparison import Comparison
from npu_assay.comparison.presentation.sections import Section, sections

#: Wider than any line; rich cuts and folds at the width of its console.
_WIDTH = 100_000


def as_text(comparison: Comparison) -> str:
    """One table a section, the conclusion last."""
    return "\n\n".join("\n".join(_lines(section)) for section in sections(comparison))


def _lines(section: Section) -> Iterator[str]:
    yield section.title.upper()
    if section.rows:
        yield from _table(section).splitlines()
    yield from section.remarks


def _table(section: Section) -> str:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in section.header:
        table.add_column(Text(title), no_wrap=True)
    for row in section.rows:
        table.add_row(*map(Text, row))
    output = io.StringIO()
    Console(file=output, width=_WIDTH, color_system=None, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())
