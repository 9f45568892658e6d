"""The vllm-ascend of a run: which one is asked for, its archive folder, and its build."""

from collections.abc import Callable, Sequence
from pathlib import Path

from npu_assay.environment.ascend_build.build import build, native_differences
from npu_assay.environment.ascend_build.request import Request, RunSource, read_request
from npu_assay.evidence.archive import Archive
from npu_assay.pipeline.definition import VllmAscend
from npu_assay.source.archived import write_source

#: The stage that makes the build; without it `run` does, before the first stage.
BUILD_STAGE = "build"

Say = Callable[[str], None]


def requested(
    source: str | None, patches: Sequence[Path], of_pipeline: VllmAscend, pipeline_file: Path
) -> Request:
    """What the options ask for; without any, what the pipeline file does. Raises UsageError."""
    if source is not None or patches:
        return read_request(source, patches)
    folder = pipeline_file.parent
    named = of_pipeline.source
    if named is not None and not named.startswith("git+"):
        named = str(folder / named)
    return read_request(named, [folder / patch for patch in of_pipeline.patches])


def record_source(archive: Archive, source: RunSource) -> None:
    """Write the archive's source/."""
    write_source(archive.source, source.tree, source.patches, source.base)


def build_before(source: RunSource, chosen: frozenset[str], say: Say) -> None:
    """Make the build where no stage does. Raises as `build` does."""
    if source.environment.tree is None or BUILD_STAGE in chosen:
        return
    build(source.environment, say)
    if source.base is not None and (different := native_differences(source.tree, source.base)):
        say(f"native parts differ from the lock's own and are not what runs: {', '.join(different)}")
