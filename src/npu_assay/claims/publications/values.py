"""Values in the file of a publication: none is turned into another kind."""

from decimal import Decimal
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from npu_assay.claims.publications.arithmetic import last_digit

#: More than a measurement has, few enough for exact arithmetic.
DIGITS = 18

#: Of a figure; a tuple is a list of layers.
Value = Decimal | str | bool | tuple[int, ...]


def _number(raw: object) -> Decimal:
    if isinstance(raw, bool) or not isinstance(raw, int | Decimal):
        raise ValueError(f"expected a number, found {raw!r}")
    number = Decimal(raw)
    if not number.is_finite():
        raise ValueError(f"expected a finite number, found {raw}")
    if not -DIGITS < last_digit(number) <= 0 or len(number.as_tuple().digits) > DIGITS:
        raise ValueError(f"expected a number with all its digits, {DIGITS} at most, found {raw}")
    return number


def _value(raw: object) -> Value:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str):
        if not raw.strip():
            raise ValueError("expected a value, found an empty text")
        return raw
    if isinstance(raw, list | tuple):
        if any(isinstance(one, bool) or not isinstance(one, int) for one in raw):
            raise ValueError(f"expected a list of layers, found {raw!r}")
        return tuple(raw)
    return _number(raw)


def _switch(raw: object) -> int | bool | str:
    if not isinstance(raw, int | str) or raw == "":
        raise ValueError(f"expected a setting (a whole number, a text, true or false), found {raw!r}")
    return raw


Switch = Annotated[
    int | bool | str,
    PlainValidator(_switch),
    WithJsonSchema({"type": ["integer", "boolean", "string"]}),
]
#: A finite number with the digits that it is written with.
Number = Annotated[Decimal, PlainValidator(_number), WithJsonSchema({"type": "number"})]
PublishedValue = Annotated[
    Value,
    PlainValidator(_value),
    WithJsonSchema({"type": ["number", "string", "boolean", "array"], "items": {"type": "integer"}}),
]
