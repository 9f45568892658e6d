"""What each layer of an image adds, by the stages of the Dockerfile.

An image's history has the text of every instruction, and so has the Dockerfile: a layer belongs to the stage
that has its instruction. What is older than the first of those is the base's; a layer of another Dockerfile,
such as that of an older checkout, is shown by its own words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from npu_assay.docker.dockerfile import Stage, plain, steps_in
from npu_assay.errors import UsageError
from npu_assay.strict import Strict, first_problem

BASE, UNKNOWN = "base", "?"
#: In the history: `RUN |2 A=x B=y /bin/sh -eu -c COMMAND # buildkit`, `COPY a b # buildkit`.
_RUN = re.compile(r"^RUN (?:\|\d+ .*? )?/bin/sh (?:-eu )?-c ", re.DOTALL)
_END = " # buildkit"
#: Instructions that may leave files.
_WRITES = ("RUN ", "COPY ", "ADD ")
#: Characters of an instruction that are shown.
_SHOWN = 60
_UNIT = 1000
_UNITS = ("B", "kB", "MB", "GB")


class Layer(Strict):
    """What one instruction added."""

    stage: str
    """Of the Dockerfile; `base` for what the image was made from, `?` for a layer that it does not have."""
    what: str
    """The step of an environment that it installs, or the beginning of the instruction."""
    bytes: int


class ImageSizes(Strict):
    """The size of an image, layer by layer."""

    schema_version: Literal[1] = 1
    image: str
    """The digest, as docker writes it, or the name by which it was asked for."""
    layers: tuple[Layer, ...]
    """The oldest first; those that add nothing are left out."""
    bytes: int
    """Of all of them."""


class _Entry(BaseModel):
    """A line of `docker history --human=false --no-trunc --format json`."""

    model_config = ConfigDict(frozen=True)

    created_by: str = Field(alias="CreatedBy")
    size: int = Field(alias="Size", ge=0)


_ENTRY = TypeAdapter(_Entry)


def read_history(image: str, lines: Iterable[str], stages: Mapping[str, Stage]) -> ImageSizes:
    """The sizes in docker's history, the newest layer first. Raises UsageError for what is none."""
    try:
        entries = [_ENTRY.validate_json(line) for line in lines if line.strip()]
    except ValidationError as error:
        raise UsageError(f"docker history of {image}: {first_problem(error)}") from error
    entries.reverse()
    texts = [_instruction(entry.created_by) for entry in entries]
    of = _stages_of(texts, stages)
    first = next((number for number, stage in enumerate(of) if stage is not None), len(of))
    layers = [
        Layer(stage=BASE, what="", bytes=sum(entry.size for entry in entries[:first])),
        *(
            Layer(stage=stage or UNKNOWN, what=_what(text), bytes=entry.size)
            for entry, text, stage in list(zip(entries, texts, of, strict=True))[first:]
            if entry.size or text.startswith(_WRITES)
        ),
    ]
    return ImageSizes(image=image, layers=tuple(layers), bytes=sum(entry.size for entry in entries))


def _stages_of(texts: Sequence[str], stages: Mapping[str, Stage]) -> list[str | None]:
    """The stage of each instruction. One that several stages have is the next one's of them: an image goes
    through its stages in the order of the file.
    """
    order = list(stages)
    having: dict[str, list[int]] = {}
    for number, stage in enumerate(stages.values()):
        for line in stage.instructions:
            having.setdefault(plain(line), []).append(number)
    found: list[str | None] = []
    current = 0
    for text in texts:
        later = [number for number in having.get(text, ()) if number >= current]
        current = later[0] if later else current
        found.append(order[current] if later else None)
    return found


def _instruction(created_by: str) -> str:
    """As `plain` gives it."""
    text = _RUN.sub("RUN ", " ".join(created_by.split()))
    return plain(text.removesuffix(_END))


def _what(instruction: str) -> str:
    if steps := steps_in(instruction):
        return f"step {', '.join(steps)}"
    return instruction if len(instruction) <= _SHOWN else f"{instruction[: _SHOWN - 1]}…"


def sizes_table(sizes: ImageSizes) -> str:
    """A line a layer, and one for a stage of several; the total last; in the units that docker uses."""
    rows = []
    for stage, group in groupby(sizes.layers, lambda layer: layer.stage):
        layers = list(group)
        rows += [(stage, layer.what, readable(layer.bytes)) for layer in layers]
        if len(layers) > 1:
            rows.append((stage, "(all of it)", readable(sum(layer.bytes for layer in layers))))
    rows.append(("total", "", readable(sizes.bytes)))
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{stage:<{wide[0]}}  {what:<{wide[1]}}  {size:>{wide[2]}}" for stage, what, size in rows
    )


def readable(size: int) -> str:
    """Bytes as docker writes them: three digits of the largest unit that they fill."""
    value, unit = float(size), _UNITS[0]
    for unit in _UNITS:
        if value < _UNIT or unit == _UNITS[-1]:
            break
        value /= _UNIT
    return f"{value:.3g} {unit}"
