"""Write the measured `seconds` of stages into the pipeline files; `ci/times ARCHIVE...` runs this."""

import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import tomlkit
from tomlkit.items import AbstractTable

from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive, open_archive
from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest
from npu_assay.evidence.merged.part import shard_folders
from npu_assay.pipeline.definition import Pipeline, find_pipeline, load_pipeline
from npu_assay.project import PIPELINES

#: As vllm-ascend's CI divides its tests: a stage that is a little slower than usual is no surprise then.
_MARGIN = 1.1


def measured_seconds(pipeline: Pipeline, manifests: Iterable[Manifest]) -> dict[str, float]:
    """Stage -> seconds to divide by: the median of the runs in which it passed, and a tenth more.

    Stages that every shard has are left out, and so are runs with other settings or a model of the user's,
    which say nothing about the time of this file's stages.
    """
    manifests = [run for run in manifests if run.pipeline.name == pipeline.name and run.model is None]
    seconds: dict[str, float] = {}
    for stage in pipeline.stage:
        records = [record for run in manifests if (record := run.stage(stage.name)) is not None]
        times = [
            record.seconds
            for record in records
            if record.status is StageStatus.PASS and record.settings == stage.settings and record.seconds
        ]
        if times and not stage.every_shard:
            seconds[stage.name] = max(0.1, round(statistics.median(times) * _MARGIN, 1))
    return seconds


def with_seconds(text: str, seconds: Mapping[str, float]) -> str:
    """The text of a pipeline file with these stages' `seconds`; all the rest stays as it was written.

    Raises UsageError for a stage that has no such line yet: where it stands is for people to say.
    """
    document = tomlkit.parse(text)
    for table in cast("list[AbstractTable]", document["stage"]):
        name = str(table["name"])
        if name not in seconds:
            continue
        if "seconds" not in table:
            raise UsageError(
                f"stage {name} has no line `seconds` to be written again; put `seconds = 1` there"
            )
        table["seconds"] = seconds[name]
    return tomlkit.dumps(document)


def write_times(manifests: Sequence[Manifest], folder: Path) -> list[str]:
    """Write what was measured into the pipeline files of a folder; returns a line for each stage.

    Raises UsageError for runs on both kinds of device, and for a pipeline that has no file there.
    """
    if len(kinds := {run.device.kind for run in manifests}) != 1:
        raise UsageError(
            f"expected runs on one kind of device, found {' and '.join(sorted(kinds)) or 'none'}"
        )
    said = []
    for name in sorted({run.pipeline.name for run in manifests}):
        path = find_pipeline(name, folder)
        pipeline, _ = load_pipeline(path)
        seconds = measured_seconds(pipeline, manifests)
        write_atomically(path, with_seconds(path.read_text(), seconds).encode())
        for stage in pipeline.stage:
            if not stage.every_shard:
                now = seconds.get(stage.name)
                said.append(
                    f"{name}: {stage.name}: {stage.seconds} -> {'not measured' if now is None else now}"
                )
    return said


def main(folders: Sequence[str]) -> int:
    """What ci/times does with its arguments; the exit code."""
    try:
        manifests = [run for folder in folders for run in _runs(open_archive(Path(folder)))]
        print("\n".join(write_times(manifests, PIPELINES)))
    except AssayError as error:
        print(f"ci/times: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _runs(archive: Archive) -> list[Manifest]:
    """The manifest of a run, or those of the shards of a merged archive."""
    shards = [Archive(folder) for folder in shard_folders(archive)]
    return [read_manifest(run.manifest) for run in shards or [archive]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
