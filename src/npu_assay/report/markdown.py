"""report.md: the report for a terminal, a merge request, a mail. CommonMark, with GitHub's tables."""

import re
from collections.abc import Mapping
from functools import cache

from jinja2 import Template
from markupsafe import Markup

from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import Verdict
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.pytest_junit import Outcome
from npu_assay.report.content import ReportContent
from npu_assay.report.deriver import Deriver, deriver_named
from npu_assay.report.excerpts import Excerpt, ExcerptLine
from npu_assay.report.findings import Place
from npu_assay.report.legible import href, visible
from npu_assay.report.templating import templates

#: Characters that mean nothing in Markdown where a sentence has them.
_OWN_WORDS = re.compile(r"[A-Za-z0-9 .,:;()%/-]*")
_DERIVER = re.compile(r"^Derived from the sealed files of this archive by `([^`\n]*)`", re.MULTILINE)


def render_markdown(archive: Archive, verdict: Verdict, deriver: Deriver) -> bytes:
    """The bytes of report.md."""
    text = _template().render(
        content=ReportContent.of(archive, verdict),
        deriver=str(deriver),
        outcomes=tuple(Outcome),
        blank=Markup("\n"),
    )
    return text.encode()


@cache
def _template() -> Template:
    environment = templates(code, autoescape=False)
    environment.filters.update(own=own, cell=cell, place=place, fence=fence, counts=counts)
    return environment.get_template("report.md.j2")


def deriver_of_markdown(data: bytes) -> Deriver:
    """Which npu-assay a report.md names. Raises UsageError where it names none."""
    found = _DERIVER.findall(data.decode(errors="replace"))
    return deriver_named(found[-1] if found else "")


def code(text: str) -> str:
    """The text as a code span, in which Markdown means nothing.

    A pipe would end the cell of a table even there, so it is written as an escape.
    """
    shown = visible(text).replace("|", r"\x7c") or "(empty)"
    mark = "`" * (1 + _longest_run(shown))
    padding = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{mark}{padding}{shown}{padding}{mark}"


def own(text: str) -> Markup:
    """Words of ours, which need no code span. Raises ValueError for what could mean something in Markdown."""
    if _OWN_WORDS.fullmatch(text) is None:
        raise ValueError(f"{text!r} has characters that Markdown may obey; leave it to the code span")
    return Markup(text)


def cell(text: str) -> str:
    """A code span, or nothing where there is no text."""
    return Markup(code(text) if text else "")


def place(where: Place) -> Markup:
    """A piece of evidence, with a link where that leads somewhere."""
    name = code(str(where.evidence))
    return Markup(f"[{name}]({href(where.evidence.file)})" if where.exists else name)


def counts(numbers: Mapping[Result, int]) -> Markup:
    """`3 fail, 40 pass`."""
    return own(", ".join(f"{number} {result}" for result, number in numbers.items()))


def fence(excerpt: Excerpt, indent: str) -> Markup:
    """An excerpt as a fenced code block in a list item of that indentation."""
    width = len(str(excerpt[-1].number))
    lines = [_numbered(line, width) for line in excerpt]
    mark = "`" * max(3, 1 + max(map(_longest_run, lines)))
    return Markup("\n".join(f"{indent}{line}" for line in (f"{mark}text", *lines, mark)))


def _numbered(line: ExcerptLine, width: int) -> str:
    return f"{'>' if line.meant else ' '} {line.number:>{width}}  {line.shown}".rstrip()


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
