"""Units of published figures, and which of them measure the same thing."""

from decimal import Decimal
from typing import Literal

Bytes = Literal["B", "GB", "GiB"]
Seconds = Literal["s", "ms"]
Rates = Literal["requests/s", "tokens/s"]
Shares = Literal["%", "points"]
Work = Literal["prompts", "requests", "rows", "tests", "tokens"]
Counts = Literal["cases", "combinations", "devices", "layers", "loads", "rounds", "runs", "subgraphs"]
Texts = Literal["sha256", "commit", "date"]
Unit = Literal[Bytes, Seconds, Rates, Shares, Work, Counts, Texts]
"""`points`: percentage points, of a difference of two percentages. A figure without a unit is a word, a truth
value, or a bare number such as a seed."""

_BYTES: dict[Unit, Decimal] = {"B": Decimal(1), "GB": Decimal(10**9), "GiB": Decimal(2**30)}
_SECONDS: dict[Unit, Decimal] = {"s": Decimal(1), "ms": Decimal(1) / 1000}
_SCALES = (_BYTES, _SECONDS)


def alike(unit: Unit | None) -> tuple[Unit, ...]:
    """The other units that measure the same thing: of GB, these are B and GiB."""
    return tuple(other for scale in _SCALES if unit in scale for other in scale if other != unit)


def convert(value: Decimal, unit: Unit | None, to: Unit | None) -> Decimal:
    """The value in another unit. Raises ValueError where the two measure different things."""
    if unit == to:
        return value
    for scale in _SCALES:
        if unit in scale and to in scale:
            return value * scale[unit] / scale[to]
    raise ValueError(f"{unit or 'a figure without a unit'} can't be given in {to or 'no unit'}")
