"""Numbers as vLLM prints them."""

import re

#: A whole number, with thousands separators (`{:,}`) or without; in a pattern of a line.
COUNT = r"[0-9][0-9,]*"
#: What may be a number with a fraction; in a pattern of a line.
NUMBER = r"-?[0-9][0-9.]*"

#: int() alone would take other scripts' digits, `1_0` and `12,34`. 15 digits are what a float holds exactly.
_COUNT = re.compile(r"[0-9]{1,15}|[0-9]{1,3}(?:,[0-9]{3}){1,4}")
_NUMBER = re.compile(r"-?[0-9]{1,10}(?:\.[0-9]{1,5})?")


def count(text: str) -> int:
    """`1234` or `1,234`. Raises ValueError."""
    if not _COUNT.fullmatch(text):
        raise ValueError(f"{text!r} is no count")
    return int(text.replace(",", ""))


def number(text: str) -> float:
    """`-1`, `0.56`. Raises ValueError, for nan and inf, too: they are no measurement."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return float(text)
