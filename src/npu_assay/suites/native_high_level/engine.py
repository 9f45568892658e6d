"""vLLM's engine as a user starts it with `--kv-offloading-size N --kv-offloading-backend native`.

The engine core runs in a process of its own (vLLM's default), and that one holds the NPU.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

# Before vLLM is imported: a forked engine core would inherit this process's threads and device state.
os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"

import tiny_model
from settings import Settings
from support.cann import process_map
from vllm import LLM, SamplingParams

#: A request between two looks at the engine: short of a block, so that nothing of it is cached or offloaded.
FLUSH_TOKENS, FLUSHES = 4, 50


@dataclass(frozen=True)
class Answer:
    """What a request gave."""

    token_ids: list[int]
    cached_tokens: int
    seconds: float


class Engine:
    """A running engine with the settings it was started with."""

    def __init__(self, settings: Settings, emulated: bool, scratch: Path):
        """Start the engine; without a model in the settings, make the tiny one in `scratch`."""
        self.settings = settings
        self.is_tiny = settings.model is None
        self.model = settings.model or tiny_model.make(scratch / "tiny-model", settings.seed)
        tiny_dtype = "float32" if emulated else "bfloat16"
        # Of 128 tokens each, these hold two requests of the full length. An emulated NPU's memory is the
        # host's, and overwrite_kv_cache fills all blocks.
        few_blocks = max(64, settings.max_model_len // 64) if self.is_tiny or emulated else None
        self._llm = LLM(
            model=str(self.model),
            dtype=settings.dtype or (tiny_dtype if self.is_tiny else "auto"),
            max_model_len=settings.max_model_len,
            tensor_parallel_size=settings.tensor_parallel_size,
            gpu_memory_utilization=settings.gpu_memory_utilization,
            num_gpu_blocks_override=settings.num_gpu_blocks or few_blocks,
            seed=settings.seed,
            enforce_eager=True,
            enable_prefix_caching=True,
            kv_offloading_size=settings.kv_offloading_size,
            kv_offloading_backend="native",
            worker_extension_cls="support.worker.Inspection",
        )
        self._tokenizer = self._llm.get_tokenizer()

    @property
    def block_tokens(self) -> int:
        """Tokens of a KV block; host blocks are as large."""
        return self._llm.llm_engine.vllm_config.cache_config.block_size

    @property
    def offloadable_tokens(self) -> int:
        """Tokens of a prompt that come back from host memory.

        Whole blocks are offloaded; and where they are the whole prompt, its last token is computed again,
        because its output is needed (`num_computed_tokens` in vllm/v1/core/sched/scheduler.py).
        """
        tokens = self.settings.prompt_tokens
        return min(tokens // self.block_tokens * self.block_tokens, tokens - 1)

    def prompt(self, number: int) -> list[int]:
        """Return a prompt of the set length, in token ids; each number has text of its own from the start."""
        length = self.settings.prompt_tokens
        text = tiny_model.text(seed=self.settings.seed * 1000 + number, words=length)
        token_ids = self._tokenizer.encode(text, add_special_tokens=False)[:length]
        assert len(token_ids) == length, "a word has at least one token"
        return token_ids

    def generate(self, prompt: list[int]) -> Answer:
        """Answer a prompt greedily, with exactly `max_tokens` tokens."""
        started = time.perf_counter()
        (output,) = self._llm.generate(
            [{"prompt_token_ids": prompt}],
            SamplingParams(temperature=0, max_tokens=self.settings.max_tokens, ignore_eos=True),
            use_tqdm=False,
        )
        seconds = time.perf_counter() - started
        return Answer(list(output.outputs[0].token_ids), output.num_cached_tokens, seconds)

    def reset_prefix_cache(self) -> bool:
        """Empty the NPU's prefix cache, once the blocks that are being stored are let go.

        vLLM starts a store one step after the one that computed the blocks, keeps them until a later step has
        seen the store end, and takes no step without a request. So short requests run until it succeeds.
        """
        for _ in range(FLUSHES):
            if self._llm.reset_prefix_cache():
                return True
            self._llm.generate(
                [{"prompt_token_ids": self.prompt(0)[:FLUSH_TOKENS]}],
                SamplingParams(temperature=0, max_tokens=2, ignore_eos=True),
                use_tqdm=False,
            )
        return False

    def overwrite_kv_cache(self) -> None:
        """Replace everything in the NPU's KV cache by other numbers."""
        written = self._llm.collective_rpc("overwrite_kv_cache", args=(self.settings.seed,))
        assert len(written) == self.settings.tensor_parallel_size
        assert all(written), "a worker has no KV cache"

    def print_process_maps(self) -> None:
        """Print which CANN each worker has loaded."""
        for name, libraries in self._llm.collective_rpc("cann_libraries"):
            assert libraries, f"{name} has loaded no library of CANN"
            print(process_map(name, libraries), flush=True)
