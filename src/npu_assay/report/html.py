"""report.html: one file for a browser, without network or script, for paper and small screens too."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from npu_assay.claims.verdict import Verdict
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.pytest_junit import Outcome
from npu_assay.report.content import ReportContent
from npu_assay.report.deriver import Deriver, deriver_named
from npu_assay.report.legible import count, href, visible
from npu_assay.report.templating import TEMPLATES, templates

_STYLE = Path(TEMPLATES, "report.css")
_DERIVER = re.compile(r'<meta name="generator" content="([^"]*)">')


def render_html(archive: Archive, verdict: Verdict, deriver: Deriver) -> bytes:
    """The bytes of report.html."""
    style = _STYLE.read_text(encoding="utf-8")
    text = _template().render(
        content=ReportContent.of(archive, verdict),
        deriver=str(deriver),
        outcomes=tuple(Outcome),
        style=Markup(style),
        policy=content_security_policy(style),
    )
    return text.encode()


@cache
def _template() -> Template:
    environment = templates(visible, autoescape=True)
    environment.filters.update(count=count, href=href, slug=slug)
    return environment.get_template("report.html.j2")


def deriver_of_html(data: bytes) -> Deriver:
    """Which npu-assay a report.html names. Raises UsageError where it names none."""
    found = _DERIVER.search(data.decode(errors="replace"))
    return deriver_named(found[1] if found else "")


def content_security_policy(style: str) -> str:
    """Nothing is loaded, nothing is run, and no style but this one counts."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def slug(words: str) -> str:
    """Words as a part of a class's name."""
    return words.replace(" ", "-")
