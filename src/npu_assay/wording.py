"""How messages speak of many things: counted, or the first few and how many more there are."""

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """`1 problem`, `2 problems`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def first_of(first: object, total: int) -> str:
    """The first of so many, and how many more: `no such file (and 2 more)`."""
    return f"{first} (and {total - 1} more)" if total > 1 else str(first)


def some(names: Sequence[str], most: int) -> str:
    """At most so many names, and how many more: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
