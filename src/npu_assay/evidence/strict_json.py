"""A JSON document read into a model without any leniency: what a reader would guess is refused instead.

`"0"`, `0.0` and `true` are no whole numbers, a key stands once, NaN is no number. Readers of JSON disagree on
these (RFC 8259, sections 4 and 6), so a document that has them says two things.
"""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from npu_assay.errors import UsageError
from npu_assay.evidence.bounded import read_whole
from npu_assay.evidence.document import MOST_BYTES
from npu_assay.evidence.json_places import first_repeated
from npu_assay.printable import printable
from npu_assay.strict import first_problem

M = TypeVar("M", bound=BaseModel)


def read_strictly(path: Path, name: str, model: type[M], most: int = MOST_BYTES) -> M:
    """The model that a file of at most `most` bytes holds. Raises UsageError that begins with `name`."""
    return parse_strictly(read_whole(path, name, most), name, model)


def parse_strictly(data: bytes, name: str, model: type[M]) -> M:
    """The model that bytes hold. Raises UsageError that begins with `name`, with the first thing wrong."""
    try:
        text = data.decode()
        json.loads(text, parse_constant=_refuse_constant)
        repeated = first_repeated(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}:{line}: not UTF-8 ({error.reason})") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{name}:{error.lineno}: not JSON ({error.msg})") from error
    except RecursionError as error:
        raise UsageError(f"{name}: not JSON of ours: nested too deep") from error
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    if repeated:
        raise UsageError(f"{name}:{repeated.line}: {printable(str(repeated))} stands twice")
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error)}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
