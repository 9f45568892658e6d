"""An output that ends before its end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CutShort:
    """Where it ends. What stands before was read; what would have followed nobody knows."""

    after_line: int
    """Number of the last line that is there, whole or not; from 1."""
    line: str

    def __str__(self) -> str:
        return f"cut short after line {self.after_line}: {' '.join(self.line.split())!r}"
