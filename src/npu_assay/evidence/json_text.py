"""JSON text read into values as RFC 8259 has it: Python's json takes NaN, and of two keys the second."""

import json
from typing import Any


class RepeatedKeyError(ValueError):
    """A key stands twice in its object."""


def load_json(text: str) -> Any:
    """The value. Raises ValueError or RecursionError for what is no JSON, or means two things."""
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise RepeatedKeyError("a key stands twice")
    return values
