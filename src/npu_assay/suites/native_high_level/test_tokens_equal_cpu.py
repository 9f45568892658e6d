"""The NPU's tokens are those of the same model under transformers on the CPU, in float32."""

import pytest
import torch
from engine import Engine
from support.stage import Stage
from transformers import AutoModelForCausalLM, PreTrainedModel


@pytest.fixture(scope="module")
def reference(engine: Engine) -> PreTrainedModel:
    """The model on the CPU."""
    return AutoModelForCausalLM.from_pretrained(engine.model, dtype=torch.float32).eval()


def greedy(model: PreTrainedModel, prompt: list[int], tokens: int) -> list[int]:
    """Return what the model answers when every token is the likeliest one."""
    with torch.inference_mode():
        answer = model.generate(
            torch.tensor([prompt]), max_new_tokens=tokens, do_sample=False, eos_token_id=None
        )
    return answer[0, len(prompt) :].tolist()


@pytest.mark.parametrize("length", [1, 7, None], ids=["one token", "a few tokens", "a whole prompt"])
def test_tokens(engine: Engine, reference: PreTrainedModel, stage: Stage, length: int | None) -> None:
    tokens = engine.settings.max_tokens
    prompt = engine.prompt(0)[:length]
    npu, cpu = engine.generate(prompt).token_ids, greedy(reference, prompt, tokens)
    row = {"prompt_tokens": len(prompt), "npu_token_ids": npu, "cpu_token_ids": cpu}
    stage.append_row("tokens-equal-cpu", row)
    assert npu == cpu
    # Not equal by chance: another first token gives another answer.
    assert greedy(reference, [prompt[0] + 1, *prompt[1:]], tokens) != cpu
