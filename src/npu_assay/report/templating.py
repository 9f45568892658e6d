"""The templates of the reports, safe unless they say otherwise.

What comes from an archive is shown, never obeyed: every text that a template prints goes through `finalize`.
It is made legible (no control characters, no bidirectional overrides, bounded), then escaped for HTML, or put
into a code span of Markdown. Only `Markup`, which the filters and macros of templates make, stays as it is.
"""

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")


def templates(finalize: Callable[[str], str], *, autoescape: bool) -> Environment:
    """The environment of a renderer; `finalize` is for text, numbers are printed as they are."""

    def of_value(value: object) -> object:
        if isinstance(value, str) and not isinstance(value, Markup):
            return finalize(value)
        return value

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,
        finalize=of_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
