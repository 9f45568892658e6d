"""vLLM's engine as a user starts it with `--kv-offloading-size N --kv-offloading-backend native`."""

from pathlib import Path

from settings import Settings
from support.engine import Engine

#: A request between two looks at the engine: short of a block, so that nothing of it is cached or offloaded.
FLUSH_TOKENS, FLUSHES = 4, 50

#: A counter of vLLM's engine, and where those tokens came from (vllm/v1/metrics/stats.py). Another counter of
#: tokens from outside, vllm:external_prefix_cache_hits, misses steps without an output (llm_engine.py, step).
TOKENS_BY_SOURCE, SOURCES = "vllm:prompt_tokens_by_source", ("local_cache_hit", "external_kv_transfer")


class OffloadingEngine(Engine):
    """A running engine whose prefix cache can be lost on the NPU."""

    def __init__(self, settings: Settings, emulated: bool, scratch: Path):
        super().__init__(
            settings,
            emulated,
            scratch,
            kv_offloading_size=settings.kv_offloading_size,
            kv_offloading_backend="native",
            disable_log_stats=False,
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

    def print_prompt_tokens_by_source(self, run: int) -> None:
        """Print how many prompt tokens the engine has counted as not computed, since it was started."""
        counters = [metric for metric in self.llm.get_metrics() if metric.name == TOKENS_BY_SOURCE]
        counted = {counter.labels["source"]: counter.value for counter in counters}
        counts = " ".join(f"{source} {counted.get(source, 'not counted')}" for source in SOURCES)
        print(f"\nengine-metrics: after run {run}: {counts}", flush=True)

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
