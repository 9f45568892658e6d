"""What the user chose of a pipeline: `--stage` or `--shard`, and `--set`."""

import math
from collections.abc import Callable, Iterable

from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import ChangedSetting, Setting, ShardRecord
from npu_assay.pipeline.definition import Pipeline, Stage
from npu_assay.pipeline.shards import stages_of_shard

Settings = dict[str, dict[str, Setting]]

_BOOLEANS = {"true": True, "false": False}
_READERS: dict[str, Callable[[str], Setting]] = {
    "int": int,
    "float": lambda text: _finite(float(text)),
    "str": str,
    "bool": lambda text: _BOOLEANS[text.lower()],
}


def choose_stages(
    pipeline: Pipeline, names: Iterable[str], shard: ShardRecord | None = None
) -> frozenset[str]:
    """The names of the stages to run: those asked for and no others, those of a shard, or all.

    Needs are not added: who names stages wants just these, and the manifest records the others as `not run`.
    Raises UsageError for an unknown name, for both ways at once, and for a shard with nothing to run.
    """
    chosen = frozenset(names)
    if shard is not None:
        if chosen:
            raise UsageError("--shard divides the whole pipeline: leave out --stage")
        return stages_of_shard(pipeline, shard)
    for name in sorted(chosen):
        _stage_of(pipeline, name, f"--stage {name}")
    return chosen or frozenset(pipeline.stage_names)


def apply_settings(pipeline: Pipeline, assignments: Iterable[str]) -> Settings:
    """Every stage's settings: the defaults of the file, changed by `stage.key=value` assignments.

    A value has the type of its default, or the one named in the file. Raises UsageError for an unknown
    stage or key, or a value of another type.
    """
    settings: Settings = {stage.name: dict(stage.settings) for stage in pipeline.stage}
    for assignment in assignments:
        option = f"--set {assignment}"
        target, equals, text = assignment.partition("=")
        name, dot, key = target.partition(".")
        if not (equals and dot):
            raise UsageError(f"{option}: expected stage.key=value")
        stage = _stage_of(pipeline, name, option)
        types = {key: type(default).__name__ for key, default in stage.settings.items()} | stage.optional
        if key not in types:
            known = ", ".join(types) or "none"
            raise UsageError(f"{option}: stage {name} has no setting {key!r}; there are: {known}")
        settings[name][key] = _value_of(types[key], text, option)
    return settings


def changed_settings(pipeline: Pipeline, settings: Settings) -> dict[str, ChangedSetting]:
    """`<stage>.<setting>` -> how it departs from the pipeline file."""
    return {
        f"{stage.name}.{key}": ChangedSetting(default=stage.settings.get(key), used=used)
        for stage in pipeline.stage
        for key, used in settings[stage.name].items()
        if used != stage.settings.get(key)
    }


def _stage_of(pipeline: Pipeline, name: str, option: str) -> Stage:
    for stage in pipeline.stage:
        if stage.name == name:
            return stage
    known = ", ".join(pipeline.stage_names)
    raise UsageError(f"{option}: pipeline {pipeline.name} has no stage {name!r}; there are: {known}")


def _finite(number: float) -> float:
    if not math.isfinite(number):  # JSON has no such number, and no setting means it
        raise ValueError
    return number


def _value_of(type_name: str, text: str, option: str) -> Setting:
    try:
        return _READERS[type_name](text)
    except (KeyError, ValueError):
        expected = "true or false" if type_name == "bool" else f"a value of type {type_name}"
        raise UsageError(f"{option}: expected {expected}, found {text!r}") from None
