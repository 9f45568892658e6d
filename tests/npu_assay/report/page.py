"""report.html as a tree, without a browser: elements, their attributes, their text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = ("meta", "line", "rect", "br", "hr", "img", "link", "input")


@dataclass
class Element:
    """An element and what is in it."""

    tag: str
    attributes: dict[str, str]
    parts: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, tag: str = "") -> list["Element"]:
        """All elements in it, in order."""
        inner = [part for part in self.parts if isinstance(part, Element)]
        found = [one for part in inner for one in (part, *part.all())]
        return [one for one in found if tag in ("", one.tag)]

    def with_id(self, name: str) -> "Element":
        (one,) = (one for one in self.all() if one.attributes.get("id") == name)
        return one


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        self.open[-1].parts.append(data)


def read_page(path: Path) -> Element:
    """Fails where tags are not closed in order."""
    builder = _Builder()
    builder.feed(path.read_text(encoding="utf-8"))
    builder.close()
    (whole,) = builder.open
    return whole
