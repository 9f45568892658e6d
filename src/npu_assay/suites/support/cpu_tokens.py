"""The same model under transformers on the CPU, in float32, where the likeliest token is the answer."""

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from support.engine import Engine
from support.stage import Stage

#: Tokens of the prompts to compare; None is a whole one.
LENGTHS = {"one token": 1, "a few tokens": 7, "a whole prompt": None}


def load_reference(engine: Engine) -> PreTrainedModel:
    """Load the engine's model on the CPU."""
    return AutoModelForCausalLM.from_pretrained(engine.model, dtype=torch.float32).eval()


def greedy(model: PreTrainedModel, prompt: list[int], tokens: int) -> list[int]:
    """Return what the model answers when every token is the likeliest one."""
    with torch.inference_mode():
        answer = model.generate(
            torch.tensor([prompt]), max_new_tokens=tokens, do_sample=False, eos_token_id=None
        )
    return answer[0, len(prompt) :].tolist()


def answers(
    engine: Engine, reference: PreTrainedModel, stage: Stage, length: int | None
) -> tuple[list[int], list[int], list[int]]:
    """Return the NPU's and the CPU's answer to a prompt, and the CPU's to one that begins otherwise.

    The first two become a row of the results.
    """
    tokens = engine.settings.max_tokens
    prompt = engine.prompt(0)[:length]
    npu, cpu = engine.generate(prompt).token_ids, greedy(reference, prompt, tokens)
    row = {"prompt_tokens": len(prompt), "npu_token_ids": npu, "cpu_token_ids": cpu}
    stage.append_row("tokens-equal-cpu", row)
    return npu, cpu, greedy(reference, [prompt[0] + 1, *prompt[1:]], tokens)
