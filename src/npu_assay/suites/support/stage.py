"""The stage that a suite runs in: the variables of ARCHITECTURE.md, "What a stage gets"."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Settings = TypeVar("Settings", bound=BaseModel)


class StageError(Exception):
    """The stage's variables or settings can't be used; the message is one line for the user."""


@dataclass(frozen=True)
class Stage:
    """Where a suite writes, and what it was told."""

    name: str
    archive: Path
    results: Path
    settings_file: Path
    emulated: bool

    @classmethod
    def from_variables(cls, variables: Mapping[str, str] = os.environ) -> "Stage":
        """Read the runner's variables.

        Raises:
            StageError: one is missing, or the device kind is an unknown one.
        """
        try:
            kind = variables["NPU_ASSAY_DEVICE_KIND"]
            stage = cls(
                name=variables["NPU_ASSAY_STAGE"],
                archive=Path(variables["NPU_ASSAY_ARCHIVE"]),
                results=Path(variables["NPU_ASSAY_RESULTS"]),
                settings_file=Path(variables["NPU_ASSAY_SETTINGS"]),
                emulated=kind == "emulated",
            )
        except KeyError as error:
            name = error.args[0]
            raise StageError(
                f"{name} is not set; run the suite as a stage: npu-assay run --stage NAME"
            ) from None
        if kind not in ("emulated", "hardware"):
            raise StageError(f"NPU_ASSAY_DEVICE_KIND={kind}: expected emulated or hardware")
        return stage

    @property
    def inputs_file(self) -> Path:
        """Where the stage says what it read."""
        return self.archive / "stages" / f"{self.name}.inputs.json"

    def settings(self, model: type[Settings]) -> Settings:
        """Read the settings file as `model`.

        Raises:
            StageError: the file is no JSON object, or holds a key or value that `model` doesn't allow.
        """
        try:
            return model.model_validate_json(self.settings_file.read_bytes())
        except OSError as error:
            raise StageError(
                f"{self.settings_file}: {error.strerror}; expected the stage's settings"
            ) from None
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "the file"
            known = ", ".join(model.model_fields)
            raise StageError(f"{self.settings_file}: {key}: {first['msg']}; settings are {known}") from None

    def append_row(self, name: str, row: Mapping[str, Any]) -> None:
        """Append one row to `results/<name>.jsonl`; it says on what kind of device it was measured.

        The log says so too, with the row's sha256: results that are changed afterwards are not the log's.
        """
        self.results.mkdir(parents=True, exist_ok=True)
        device_kind = "emulated" if self.emulated else "hardware"
        line = json.dumps({**row, "device_kind": device_kind})
        with (self.results / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        # On a line of its own, in one write: pytest and the engine's processes print to the same pipe.
        print(f"\nrow: results/{name}.jsonl sha256 {hashlib.sha256(line.encode()).hexdigest()}", flush=True)
