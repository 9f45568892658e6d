"""The parts of a Markdown document that the tests of the documents look at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: A code span between one or two backticks; two where the span has one inside.
_CODE = re.compile(r"``(?P<two>.+?)``|`(?P<one>[^`]+)`")
_LINK = re.compile(r"\[(?P<label>[^\]\[]+[#@][0-9a-f]+)\](?!:)")
_TARGET = re.compile(r"^\[(?P<label>[^\]]+)\]: (?P<url>\S+)$", re.MULTILINE)
_INLINE = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Row:
    """A row of a table: its cells, and the heading that the table is under."""

    heading: str
    cells: tuple[str, ...]


def rows(document: str) -> list[Row]:
    """Every row of every table, without header and rule."""
    found: list[Row] = []
    heading, table = "", 0
    for line in document.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        table = table + 1 if line.startswith("|") else 0
        if table > 2:
            found.append(Row(heading, tuple(cell.strip() for cell in line.strip("|").split("|"))))
    return found


def code_spans(text: str) -> list[str]:
    """What stands in code type in a line or a cell."""
    return [(found["two"] or found["one"]).strip() for found in _CODE.finditer(text)]


def labels(text: str) -> list[str]:
    """Labels of reports, such as vllm-ascend#632, that are linked in a text."""
    return [found["label"] for found in _LINK.finditer(text)]


def targets(document: str) -> dict[str, str]:
    """The addresses that a document gives to its labels."""
    return {found["label"]: found["url"] for found in _TARGET.finditer(document)}


def command_lines(document: str) -> Iterator[str]:
    """Every line of our own commands: in shell blocks and in code type."""
    for block in _FENCE.finditer(document):
        if block["kind"] in ("console", "sh"):
            for line in block["text"].replace("\\\n", " ").splitlines():
                yield line.removeprefix("$ ").partition("#")[0].strip()
    outside = _FENCE.sub("", document)
    yield from (span for span in code_spans(outside))


def links(document: str) -> list[str]:
    """Targets of links into this repository, with their `#anchor`."""
    return [target for target in _INLINE.findall(_FENCE.sub("", document)) if "://" not in target]


def anchors(document: str) -> set[str]:
    """What can stand after the `#` of a link to this document, as GitHub makes it of headings."""
    kept = _FENCE.sub("", document)
    headings = [line.lstrip("#").strip() for line in kept.splitlines() if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
