"""How many dies a run takes."""

import pytest

from npu_assay.pipeline.definition import Pipeline
from npu_assay.pipeline.dies import dies_of_run
from npu_assay.pipeline.selection import apply_settings, choose_stages

PIPELINE = Pipeline.model_validate(
    {
        "name": "demo",
        "stage": [
            {"name": "ruff", "command": ["x"], "timeout": 1.0},
            {"name": "health", "command": ["x"], "timeout": 1.0, "dies": 1},
            {
                "name": "engine",
                "command": ["x"],
                "timeout": 1.0,
                "dies": 1,
                "settings": {"tensor_parallel_size": 1},
            },
            {"name": "transfer", "command": ["x"], "timeout": 1.0, "dies": 2},
        ],
    }
)


@pytest.mark.parametrize(
    ("stages", "settings", "dies"),
    [
        ([], [], 2),
        (["ruff"], [], 0),
        (["ruff", "health"], [], 1),
        (["engine"], [], 1),
        (["engine"], ["engine.tensor_parallel_size=4"], 4),
        (["transfer"], ["engine.tensor_parallel_size=4"], 2),
    ],
)
def test_a_run_takes_what_the_most_demanding_of_its_stages_needs(stages, settings, dies):
    chosen = choose_stages(PIPELINE, stages)
    assert dies_of_run(PIPELINE, chosen, apply_settings(PIPELINE, settings)) == dies
