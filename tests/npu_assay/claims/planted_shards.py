"""Good archives of an emulated kv-offload run that was divided, as `run --shard` would leave them."""

import hashlib
from pathlib import Path

from offload_archive import OffloadArchive

from npu_assay.evidence.atomic import folder_beside
from npu_assay.evidence.manifest import PipelineRecord, ShardRecord, StageStatus
from npu_assay.evidence.merged.merge import merge
from npu_assay.pipeline.definition import load_pipeline
from npu_assay.pipeline.shards import stages_of_shard
from npu_assay.project import PIPELINES

_PIPELINE = PIPELINES / "kv-offload.toml"


def own_stages(index: int, count: int = 2) -> list[str]:
    """What that shard runs and no other, in the order of the pipeline: it depends on measured times."""
    pipeline, _ = load_pipeline(_PIPELINE)
    own = stages_of_shard(pipeline, ShardRecord(index=index, count=count))
    return [stage.name for stage in pipeline.stage if stage.name in own and not stage.every_shard]


def whose(stage: str) -> int:
    """Which of two shards runs the stage."""
    return next(index for index in (1, 2) if stage in own_stages(index))


def plant_shard(root: Path, index: int, count: int) -> OffloadArchive:
    """One shard; `seal` it when it is as it should be."""
    offload = OffloadArchive(root)
    shard = ShardRecord(index=index, count=count)
    pipeline, data = load_pipeline(_PIPELINE)
    offload.write("inputs/pipeline.toml", data.decode())
    sha256 = hashlib.sha256(data).hexdigest()
    offload.change_manifest(shard=shard, pipeline=PipelineRecord(name=pipeline.name, sha256=sha256))
    own = stages_of_shard(pipeline, shard)
    for stage in pipeline.stage_names:
        if stage not in own:
            offload.remove_stage(stage, StageStatus.NOT_RUN, f"not a stage of shard {shard}")
    if "native-high-level" not in own:
        for path in offload.archive.results.iterdir():
            path.unlink()
    return offload


def plant_shards(folder: Path, count: int = 2) -> list[OffloadArchive]:
    """All of them, sealed: the folders `1`, `2`, ..."""
    shards = [plant_shard(folder / str(index), index, count) for index in range(1, count + 1)]
    for shard in shards:
        shard.seal()
    return shards


def merged(shards: list[OffloadArchive], root: Path) -> Path:
    """The merged archive of these, without what is derived from it."""
    with folder_beside(root) as folder:
        merge([shard.root for shard in shards], folder)
    return root
