"""A TOML file read into a model: whatever is wrong in it is one line, with file and line."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from npu_assay.environment.toml_lines import line_of
from npu_assay.errors import UsageError
from npu_assay.wording import first_of

M = TypeVar("M", bound=BaseModel)

#: Bytes; a lock has some thousand.
_LARGEST = 1 << 22
#: Where tomllib says that it stopped; at the end of the file it says no number.
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
#: pydantic's own words for a choice or a dictionary's key, which stand in `loc` beside the names.
_NO_NAME = re.compile(r"<component>|<absent>|\[key\]|literal\[.*\]")


def read_toml(
    path: Path, model: type[M], what: str, *, parse_float: Callable[[str], Any] = float
) -> tuple[M, bytes, str]:
    """The model that a file holds, the file's bytes, and its text.

    `what` the file ought to be stands in errors ("a lock"). A validator of the model that is about a key
    further in begins its message with that key's path, `components.torch: ...`. Raises UsageError with one
    line that says what and where.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{path}: can't be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{path}: not {what}: more than {_LARGEST} bytes")
    try:
        text = data.decode()
        content = model.model_validate(tomllib.loads(text, parse_float=parse_float))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: not TOML: not UTF-8: {error.reason}") from error
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n")
        raise UsageError(f"{path}:{line}: not TOML: {_TOML_PLACE.sub('', str(error))}") from error
    except RecursionError as error:  # tomllib's own, of arrays in arrays
        raise UsageError(f"{path}: not {what}: nested too deeply") from error
    except ValidationError as error:
        raise UsageError(_first_problem(path, text, model, error)) from error
    return content, data, text


def _first_problem(path: Path, text: str, model: type[BaseModel], error: ValidationError) -> str:
    problems = error.errors()
    first = problems[0]
    keys = tuple(str(key) for key in first["loc"] if not _NO_NAME.fullmatch(str(key)))
    message = first["msg"].removeprefix("Value error, ")
    named = tuple(message.partition(":")[0].partition(" ")[0].split("."))
    told = first_of(message, len(problems))
    if len(named) > 1 and named[0] in model.model_fields:
        return f"{path}:{line_of(text, named)}: {told}"
    where = f"{'.'.join(keys)}: " if keys else ""
    return f"{path}:{line_of(text, keys)}: {where}{told}"
