"""The pipeline file: stages as typed, validated data (`ci/pipelines/*.toml`).

A file has `name`, a list of `[[stage]]` tables, and may have `[vllm-ascend]`: `source` and `patches`, as the
options --vllm-ascend and --patch of `run`, which take its place; paths start at the file's folder.

A stage has:

| key | meaning |
| --- | --- |
| `name` | lower-case words joined by dashes; names the stage's log |
| `command` | list of words; placeholders: see ARCHITECTURE.md, "What a stage gets" |
| `timeout` | seconds until the stage and everything it started is ended |
| `needs` | stages that must pass, or be inconclusive, first |
| `dies` | how many dies the stage needs; with fewer it is `not applicable` |
| `leaves` | files of the archive that must exist and hold something (a `.jsonl`: at least one valid row) |
| `junit` | the stage leaves `stages/<name>.junit.xml`: at least one test, all passed, none skipped |
| `empty_log` | success prints nothing: one byte of output fails the stage |
| `log_limit` | bytes of output; one more ends the stage |
| `work_limit` | bytes that scratch files, logs and caches of the run may take; more ends the stage |
| `settings` | names and defaults of what `--set <stage>.<name>=<value>` may change |
| `optional` | names and types (int, float, str, bool) of settings that are left out unless they are set |
| `every_shard` | every part of a run that is divided by `--shard` has it; it needs no stage that is not |
| `seconds` | how long the stage takes, measured (`ci/times` writes it): by this `--shard` divides |

An unknown key is an error.
"""

import tomllib
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import Name, Setting
from npu_assay.pipeline.command import PLACEHOLDER, PLACEHOLDERS
from npu_assay.strict import first_problem

MIB = 1 << 20
GIB = 1 << 30


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Stage(_Strict):
    """A command, a time limit and a contract. The keys are described at the top of this file."""

    name: Name
    command: list[str] = Field(min_length=1)
    timeout: float = Field(gt=0)
    needs: list[str] = []
    dies: int = Field(default=0, ge=0)
    leaves: list[str] = []
    junit: bool = False
    empty_log: bool = False
    log_limit: int = Field(default=256 * MIB, gt=0)
    work_limit: int = Field(default=4 * GIB, gt=0)
    settings: dict[str, Setting] = {}
    optional: dict[str, Literal["int", "float", "str", "bool"]] = {}
    every_shard: bool = False
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def in_environment(self) -> bool:
        """Whether its program is any other than npu-assay, which imports nothing of the environment."""
        return self.command[0] != "{assay}"

    @field_validator("command")
    @classmethod
    def _known_placeholders(cls, command: list[str]) -> list[str]:
        for word in command:
            for placeholder in PLACEHOLDER.findall(word):
                if placeholder not in PLACEHOLDERS:
                    raise ValueError(
                        f"unknown placeholder {{{placeholder}}}; there are {', '.join(PLACEHOLDERS)}"
                    )
        return command

    @field_validator("leaves")
    @classmethod
    def _inside_the_archive(cls, leaves: list[str]) -> list[str]:
        for name in leaves:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise ValueError(f"{name!r} must be a path inside the archive")
        return leaves


class VllmAscend(_Strict):
    """Which vllm-ascend the pipeline is about."""

    source: str | None = None
    patches: list[str] = []


class Pipeline(_Strict):
    """The stages in the order of the file; a stage needs only stages that stand before it."""

    name: Name
    vllm_ascend: VllmAscend = Field(default=VllmAscend(), alias="vllm-ascend")
    stage: list[Stage] = Field(min_length=1)

    @model_validator(mode="after")
    def _needs_stand_before(self) -> Self:
        before: dict[str, Stage] = {}
        for stage in self.stage:
            if stage.name in before:
                raise ValueError(f"stage {stage.name} stands twice")
            for need in stage.needs:
                if need not in before:
                    raise ValueError(f"stage {stage.name} needs {need}, which does not stand before it")
                if stage.every_shard and not before[need].every_shard:
                    raise ValueError(
                        f"stage {stage.name} is every_shard, but needs {need}, which only one shard has"
                    )
            before[stage.name] = stage
        return self

    @property
    def stage_names(self) -> list[str]:
        return [stage.name for stage in self.stage]


def load_pipeline(path: Path) -> tuple[Pipeline, bytes]:
    """Read a pipeline file; returns it with the file's bytes.

    Raises UsageError that names the file and the first thing wrong in it.
    """
    try:
        data = path.read_bytes()
        pipeline = Pipeline.model_validate(tomllib.loads(data.decode()))
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error)}") from error
    except ValueError as error:  # not UTF-8, not TOML
        raise UsageError(f"{path}: {error}") from error
    return pipeline, data


def find_pipeline(name: str, folder: Path) -> Path:
    """The file of the pipeline of that name, or the path itself when it names a .toml file."""
    if name.endswith(".toml"):
        return Path(name)
    path = folder / f"{name}.toml"
    if "/" in name or not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.toml"))) or "none"
        raise UsageError(f"no pipeline {name!r} in {folder}; there are: {known}")
    return path
