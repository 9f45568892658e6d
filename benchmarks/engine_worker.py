"""An engine that answers requests, one JSON object a line; it runs in either engine's environment.

    python engine_worker.py MODEL --requests 16 --tokens 192 --threads 1

Asked on standard input `{"prompts": [[token id, ...], ...], "max_tokens": n}`, it answers every prompt
greedily with exactly n tokens and writes `{"seconds": s, "token_ids": [[token id, ...], ...]}` to standard
output. Its first line there is `{"threads": n}`, when the engine has started. It ends with its input.
Whatever else is printed goes to standard error. Imports nothing of npu_assay.
"""

import argparse
import json
import os
import sys
import time
from typing import TextIO

#: Tokens of a KV block: the default of both engines (`CpuPlatform` in vLLM, `NPUPlatform` in vllm-ascend).
BLOCK_TOKENS = 128


def standard_output_for_answers() -> TextIO:
    """Keep standard output for the answers alone: what libraries print to it goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def main() -> None:
    """Start the engine, answer until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder of the model")
    parser.add_argument("--requests", type=int, required=True, help="prompts that run together")
    parser.add_argument(
        "--tokens", type=int, required=True, help="tokens of the longest prompt and its answer"
    )
    parser.add_argument("--threads", type=int, required=True, help="threads for PyTorch's CPU kernels")
    options = parser.parse_args()
    answers = standard_output_for_answers()

    import torch

    torch.set_num_threads(options.threads)
    from vllm import LLM, SamplingParams

    blocks_a_request = -(-options.tokens // BLOCK_TOKENS)
    llm = LLM(
        model=options.model,
        dtype="float32",
        seed=0,
        enforce_eager=True,
        # Prompts of one measurement are measured again with more tokens: nothing may be cached.
        enable_prefix_caching=False,
        block_size=BLOCK_TOKENS,
        max_model_len=options.tokens,
        max_num_seqs=options.requests,
        # All prompts in one step.
        max_num_batched_tokens=options.requests * options.tokens,
        # One more: vLLM keeps a block for itself.
        num_gpu_blocks_override=options.requests * blocks_a_request + 1,
    )

    def answer(message: object) -> None:
        print(json.dumps(message), file=answers, flush=True)

    answer({"threads": torch.get_num_threads()})
    for line in sys.stdin:
        request = json.loads(line)
        prompts = [{"prompt_token_ids": token_ids} for token_ids in request["prompts"]]
        sampling = SamplingParams(
            temperature=0, max_tokens=request["max_tokens"], ignore_eos=True, detokenize=False
        )
        started = time.perf_counter()
        outputs = llm.generate(prompts, sampling, use_tqdm=False)
        seconds = time.perf_counter() - started
        token_ids = [list(output.outputs[0].token_ids) for output in outputs]
        answer({"seconds": seconds, "token_ids": token_ids})


if __name__ == "__main__":
    main()
