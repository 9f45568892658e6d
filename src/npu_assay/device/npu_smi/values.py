"""Single values as npu-smi writes them. What is not exactly of the form is a ValueError, never a guess."""

import re
from dataclasses import dataclass

#: What npu-smi writes in place of a value that it does not have.
NOT_MEASURED = frozenset({"-", "NA", "N/A"})

_INTEGER = re.compile(r"-?[0-9]{1,18}")
#: Few enough digits for a float to hold every one of them.
_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,3})?")
_USAGE = re.compile(r"([0-9]{1,18})\s*/\s*([0-9]{1,18})")


@dataclass(frozen=True)
class Usage:
    """How much of something is used, in its column's unit. npu-smi writes MB and means MiB."""

    used: int
    total: int


def integer(text: str) -> int:
    """A whole number. int() alone would take `1_0`, ` 1` and other scripts' digits."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def number(text: str) -> float:
    """A number; no exponent, no infinity."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return float(text)


def usage(text: str) -> Usage:
    """`3159 / 65536`, with or without the spaces."""
    found = _USAGE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not of the form used / total")
    return Usage(int(found[1]), int(found[2]))


def text_or_none(text: str) -> str | None:
    return None if text in NOT_MEASURED else text


def integer_or_none(text: str) -> int | None:
    return None if text in NOT_MEASURED else integer(text)


def number_or_none(text: str) -> float | None:
    return None if text in NOT_MEASURED else number(text)


def usage_or_none(text: str) -> Usage | None:
    return None if text in NOT_MEASURED else usage(text)
