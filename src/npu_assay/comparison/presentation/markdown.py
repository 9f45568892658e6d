"""Sections as GitHub's Markdown, for the comment on a pull request: the conclusion first."""

import re
from collections.abc import Iterator

from npu_assay.comparison.comparison import Comparison
from npu_assay.comparison.presentation.sections import Section, sections

#: What Markdown or HTML would take for its own; `@` and `#` would notify people and link issues.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#!|~@&$]")


def as_markdown(comparison: Comparison) -> str:
    """Headings and tables; what stands in archives is escaped, so that it is text and nothing else."""
    *parts, conclusion = sections(comparison)
    mark = "no regression" if comparison.exit_code == 0 else comparison.conclusion
    lines = [f"## npu-assay compare: {_escaped(mark)}", ""]
    lines += [f"- {_escaped(remark)}" for remark in conclusion.remarks]
    for part in parts:
        lines += ["", f"### {part.title}", "", *_lines(part)]
    return "\n".join(lines)


def _lines(section: Section) -> Iterator[str]:
    if section.rows:
        yield _row(section.header)
        yield _row("---" for _ in section.header)
        yield from (_row(map(_escaped, row)) for row in section.rows)
    if section.rows and section.remarks:
        yield ""
    yield from (f"- {_escaped(remark)}" for remark in section.remarks)


def _row(cells: Iterator[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Character references rather than backslashes: no renderer makes a mention or a link of them."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)
