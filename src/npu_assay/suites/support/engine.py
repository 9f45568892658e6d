"""vLLM's engine, as a user starts it.

The engine core runs in a process of its own (vLLM's default), and that one holds the NPU.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before vLLM is imported: a forked engine core would inherit this process's threads and device state.
os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"

import tiny_model
from vllm import LLM, SamplingParams

from support.cann import print_libraries
from support.engine_settings import EngineSettings
from support.inputs import Prompts, write_inputs


@dataclass(frozen=True)
class Answer:
    """What a request gave."""

    token_ids: list[int]
    cached_tokens: int
    seconds: float


class Engine:
    """A running engine with the settings it was started with."""

    def __init__(self, settings: EngineSettings, emulated: bool, scratch: Path, **arguments: Any):
        """Start the engine; without a model in the settings, make the tiny one in `scratch`.

        `arguments` are further ones of vLLM's.
        """
        self.settings = settings
        self.is_tiny = settings.model is None
        self.model = settings.model or tiny_model.make(scratch / "tiny-model", settings.seed)
        tiny_dtype = "float32" if emulated else "bfloat16"
        # Of 128 tokens each, these hold two requests of the full length. An emulated NPU's memory is the
        # host's, and overwrite_kv_cache fills all blocks.
        few_blocks = max(64, settings.max_model_len // 64) if self.is_tiny or emulated else None
        self.llm = LLM(
            model=str(self.model),
            dtype=settings.dtype or (tiny_dtype if self.is_tiny else "auto"),
            max_model_len=settings.max_model_len,
            tensor_parallel_size=settings.tensor_parallel_size,
            gpu_memory_utilization=settings.gpu_memory_utilization,
            num_gpu_blocks_override=settings.num_gpu_blocks or few_blocks,
            seed=settings.seed,
            enforce_eager=True,
            enable_prefix_caching=True,
            worker_extension_cls="support.worker.Inspection",
            **arguments,
        )
        self._tokenizer = self.llm.get_tokenizer()
        self._prompts: dict[int, list[int]] = {}

    @property
    def block_tokens(self) -> int:
        """Tokens of a KV block."""
        return self.llm.llm_engine.vllm_config.cache_config.block_size

    def prompt(self, number: int) -> list[int]:
        """Return a prompt of the set length, in token ids; each number has text of its own from the start."""
        if number in self._prompts:
            return list(self._prompts[number])
        length = self.settings.prompt_tokens
        text = tiny_model.text(seed=self.settings.seed * 1000 + number, words=length)
        token_ids = self._tokenizer.encode(text, add_special_tokens=False)[:length]
        assert len(token_ids) == length, "a word has at least one token"
        self._prompts[number] = token_ids
        return list(token_ids)

    def write_inputs(self, file: Path) -> None:
        """Write which prompts were asked for, and the tiny model's hashes; the run hashes a user's model."""
        prompts = Prompts(
            source="suites/tiny_model.py: text(), in the model's tokens",
            revision=f"seed {self.settings.seed}, numbers {', '.join(map(str, sorted(self._prompts)))}",
            rows=[self._prompts[number] for number in sorted(self._prompts)],
        )
        write_inputs(
            file, {"tiny": self.model} if self.is_tiny else {}, {"prompts": prompts} if self._prompts else {}
        )

    def generate(self, prompt: list[int], max_tokens: int | None = None) -> Answer:
        """Answer a prompt greedily, with exactly `max_tokens` tokens, else as many as the settings say."""
        tokens = max_tokens or self.settings.max_tokens
        started = time.perf_counter()
        (output,) = self.llm.generate(
            [{"prompt_token_ids": prompt}],
            SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True),
            use_tqdm=False,
        )
        seconds = time.perf_counter() - started
        return Answer(list(output.outputs[0].token_ids), output.num_cached_tokens, seconds)

    def print_process_maps(self) -> None:
        """Print which CANN each worker has loaded."""
        for name, libraries in self.llm.collective_rpc("cann_libraries"):
            assert libraries, f"{name} has loaded no library of CANN"
            print_libraries(name, libraries)
