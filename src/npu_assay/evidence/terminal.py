"""What a terminal would not show of a log's bytes."""

import re

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def without_colours(text: str) -> str:
    """The text without colours, movements of the cursor and titles of windows (ECMA-48's CSI and OSC)."""
    return _ESCAPE.sub("", text)
