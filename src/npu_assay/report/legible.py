"""Values as people read them, the same bytes everywhere: no locale, no clock.

Nothing that comes out of here is obeyed by a terminal or a page.
"""

import os
from urllib.parse import quote

from npu_assay.printable import printable

#: Characters of a text that are shown; of a message that quotes a whole file, say.
MOST = 2000

_MINUTE, _HOUR = 60, 3600
#: Seconds from which on tenths say nothing.
_WHOLE = 100
_KIB = 1024


def visible(text: str, most: int = MOST) -> str:
    """The text on one line, bounded, with escapes for what would not show, or would turn the rest around."""
    shown = printable(text[:most])
    return shown if len(text) <= most else f"{shown}… ({count(len(text) - most)} more characters)"


def count(number: int) -> str:
    """With thousands separators."""
    return f"{number:,}"


def seconds(value: float) -> str:
    """A duration: `1.6 s`, `3 min 13 s`, `2 h 05 min`."""
    whole = round(value)
    if whole < _WHOLE:
        return f"{value:.1f} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"


def size(in_bytes: int) -> str:
    """Bytes in the largest binary unit that they fill."""
    value, units = float(in_bytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while value >= _KIB and len(units) > 1:
        value /= _KIB
        units.pop(0)
    return f"{in_bytes:,} bytes" if units[0] == "bytes" else f"{value:.1f} {units[0]}"


def href(name: str) -> str:
    """A relative link to a file of the archive; `./` keeps a name with a colon from being a scheme."""
    return "./" + quote(os.fsencode(name))
