"""vLLM's engine as a user starts it with `--kv-offloading-size N --kv-offloading-backend native`."""

from pathlib import Path

from settings import Settings
from support.engine import Engine

#: A request between two looks at the engine: short of a block, so that nothing of it is cached or offloaded.
FLUSH_TOKENS, FLUSHES = 4, 50


class OffloadingEngine(Engine):
    """A running engine whose prefix cache can be lost on the NPU."""

    def __init__(self, settings: Settings, emulated: bool, scratch: Path):
        super().__init__(
            settings,
            emulated,
            scratch,
            kv_offloading_size=settings.kv_offloading_size,
            kv_offloading_backend="native",
        )
        self._seed, self._ranks = settings.seed, settings.tensor_parallel_size

    @property
    def offloadable_tokens(self) -> int:
        """Tokens of a prompt that come back from host memory.

        Whole blocks are offloaded; and where they are the whole prompt, its last token is computed again,
        because its output is needed (`num_computed_tokens` in vllm/v1/core/sched/scheduler.py).
        """
        tokens = self.settings.prompt_tokens
        return min(tokens // self.block_tokens * self.block_tokens, tokens - 1)

    def reset_prefix_cache(self) -> bool:
        """Empty the NPU's prefix cache, once the blocks that are being stored are let go.

        vLLM starts a store one step after the one that computed the blocks, keeps them until a later step has
        seen the store end, and takes no step without a request. So short requests run until it succeeds.
        """
        for _ in range(FLUSHES):
            if self.llm.reset_prefix_cache():
                return True
            self.generate(self.prompt(0)[:FLUSH_TOKENS], max_tokens=2)
        return False

    def overwrite_kv_cache(self) -> None:
        """Replace everything in the NPU's KV cache by other numbers."""
        written = self.llm.collective_rpc("overwrite_kv_cache", args=(self._seed,))
        assert len(written) == self._ranks
        assert all(written), "a worker has no KV cache"
