"""stages/<stage>.inputs.json: the models and datasets that a stage read, by name and hash.

A stage that reads any leaves the file, the runner repeats it in manifest.json, and a rule holds the two
against each other. The user's model (`--model`) is hashed by the run itself and stands in the manifest alone.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from npu_assay.evidence.record import FileRecord, Record
from npu_assay.evidence.strict_json import read_strictly
from npu_assay.source.record import Sha256

_Text = Annotated[str, Field(min_length=1)]


class ModelInput(Record):
    """A model: weights, configuration, tokenizer."""

    name: _Text
    files: dict[str, FileRecord] = Field(min_length=1)
    """By their names in the model's folder."""


class DatasetInput(Record):
    """A set of prompts or samples."""

    name: _Text
    source: _Text
    """Where it is from, or what made it."""
    revision: _Text
    """Which state of the source; of what was made, the seed."""
    rows: int = Field(gt=0)
    sha256: Sha256
    """Of its rows as JSON Lines."""


class StageInputs(Record):
    """The whole file; of one stage."""

    schema_version: Literal[1] = 1
    models: tuple[ModelInput, ...]
    datasets: tuple[DatasetInput, ...]

    @model_validator(mode="after")
    def _names_something_once(self) -> Self:
        names = [model.name for model in self.models] + [dataset.name for dataset in self.datasets]
        if not names:
            raise ValueError("expected a model or a dataset; a stage that reads none leaves no such file")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name} stands twice")
        return self


def read_stage_inputs(path: Path, name: str) -> StageInputs:
    """Read a stage's file. Raises UsageError that begins with `name`."""
    return read_strictly(path, name, StageInputs)
