"""How many dies stages need."""

from npu_assay.pipeline.definition import Pipeline, Stage
from npu_assay.pipeline.selection import Settings

#: A setting of stages that run an engine, by vLLM's name: on so many dies.
TENSOR_PARALLEL_SIZE = "tensor_parallel_size"


def dies_of(stage: Stage, settings: Settings) -> int:
    """What the stage needs with its settings: what the pipeline says of it, or the dies of its engine."""
    parallel = settings[stage.name].get(TENSOR_PARALLEL_SIZE, 0)
    return max(stage.dies, parallel if isinstance(parallel, int) else 0)


def dies_of_run(pipeline: Pipeline, chosen: frozenset[str], settings: Settings) -> int:
    """What the most demanding of the chosen stages needs."""
    return max((dies_of(stage, settings) for stage in pipeline.stage if stage.name in chosen), default=0)
