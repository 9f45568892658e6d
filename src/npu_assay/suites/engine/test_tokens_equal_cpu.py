"""The NPU's tokens are those of the same model under transformers on the CPU, in float32."""

import pytest
from support.cpu_tokens import LENGTHS, answers, load_reference
from support.engine import Engine
from support.stage import Stage
from transformers import PreTrainedModel


@pytest.fixture(scope="module")
def reference(engine: Engine) -> PreTrainedModel:
    """The model on the CPU."""
    return load_reference(engine)


@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
def test_tokens(engine: Engine, reference: PreTrainedModel, stage: Stage, length: int | None) -> None:
    npu, cpu, of_another_prompt = answers(engine, reference, stage, length)
    assert npu == cpu
    # Not equal by chance: another first token gives another answer.
    assert of_another_prompt != cpu
