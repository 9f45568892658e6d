"""Every pipeline that is committed has its rules, and they ask for its stages, in order."""

import pytest

from npu_assay.claims.published import RULES_OF_PIPELINE
from npu_assay.claims.rules.stages import StagesRule
from npu_assay.pipeline.definition import find_pipeline, load_pipeline
from npu_assay.project import PIPELINES


def test_every_pipeline_has_rules() -> None:
    assert set(RULES_OF_PIPELINE) == {path.stem for path in PIPELINES.glob("*.toml")}


@pytest.mark.parametrize("name", RULES_OF_PIPELINE)
def test_the_rules_ask_for_the_stages_of_the_pipeline(name: str) -> None:
    pipeline, _ = load_pipeline(find_pipeline(name, PIPELINES))
    (rule,) = (rule for rule in RULES_OF_PIPELINE[name] if isinstance(rule, StagesRule))
    assert list(rule.stages) == pipeline.stage_names
    assert rule.stages
