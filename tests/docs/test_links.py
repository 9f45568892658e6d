"""Links from one document to another lead somewhere."""

from pathlib import Path

import pytest
from markdown_parts import anchors, links

from npu_assay.project import ROOT

DOCUMENTS = [path.relative_to(ROOT) for path in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")))]


def broken(root: Path, document: Path) -> list[str]:
    """Links of a document to a file, or to a heading, that is not there."""
    found = []
    for link in links((root / document).read_text()):
        name, _, anchor = link.partition("#")
        target = root / document.parent / name if name else root / document
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            found.append(link)
    return found


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("# What doctor's `checks` mean\n")
    sound = "[b](docs/b.md) [c](docs/b.md#what-doctors-checks-mean) [d](#here) [e](https://e.org)\n# Here\n"
    (tmp_path / "a.md").write_text(sound)
    assert broken(tmp_path, Path("a.md")) == []
    (tmp_path / "a.md").write_text(sound + "[x](docs/c.md) [y](docs/b.md#no) [z](#no)\n")
    assert broken(tmp_path, Path("a.md")) == ["docs/c.md", "docs/b.md#no", "#no"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_the_links_of_a_document_lead_somewhere(document: Path) -> None:
    assert broken(ROOT, document) == []
