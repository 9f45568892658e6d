"""The spec counts as vLLM's own and refuses what vLLM's own lets pass."""

from typing import Any

import pytest
import torch
from vllm.config import CacheConfig, ParallelConfig, VllmConfig
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec, KVCacheTensor
from vllm.v1.kv_offload.arc_manager import ARCOffloadingManager
from vllm.v1.kv_offload.cpu import CPUOffloadingSpec
from vllm.v1.kv_offload.factory import OffloadingSpecFactory
from vllm.v1.kv_offload.lru_manager import LRUOffloadingManager

from vllm_ascend_params.kv_offloading import install
from vllm_ascend_params.spec import AscendCPUOffloadingSpec

LAYERS, TOKENS = 28, 128
PAGE = FullAttentionSpec(block_size=TOKENS, num_kv_heads=2, head_size=128, dtype=torch.bfloat16)
BLOCK_BYTES = LAYERS * 2 * TOKENS * 2 * 128 * 2  # K and V of every layer of Qwen2.5-1.5B
KV_CACHE = KVCacheConfig(
    num_blocks=8,
    kv_cache_tensors=[
        KVCacheTensor(size=8 * PAGE.page_size_bytes, shared_by=[f"layer.{n}"]) for n in range(LAYERS)
    ],
    kv_cache_groups=[KVCacheGroupSpec([f"layer.{n}" for n in range(LAYERS)], PAGE)],
)


def config(stock_config: type[VllmConfig], ranks: int = 1, **extra: Any) -> VllmConfig:
    install(stock_config)
    made = stock_config(cache_config=CacheConfig(block_size=TOKENS, kv_offloading_size=4))
    # Set afterwards: a ParallelConfig of several ranks looks for as many devices.
    made.parallel_config = ParallelConfig()
    made.parallel_config.world_size = ranks
    made.kv_transfer_config.kv_connector_extra_config.update(extra)
    return made


@pytest.mark.parametrize(
    ("ranks", "extra", "expected"),
    [
        pytest.param(1, {}, 4 * 2**30 // BLOCK_BYTES, id="4 GiB"),
        pytest.param(2, {}, 4 * 2**30 // (2 * BLOCK_BYTES), id="4 GiB over two ranks"),
        pytest.param(1, {"block_size": 256}, 4 * 2**30 // (2 * BLOCK_BYTES), id="host blocks of two"),
        pytest.param(1, {"cpu_bytes_to_use": float(BLOCK_BYTES)}, 1, id="exactly one block"),
        pytest.param(4, {"cpu_bytes_to_use": 12 * BLOCK_BYTES + 5}, 3, id="rounded down"),
    ],
)
def test_blocks_are_counted_as_vllm_counts_them(
    stock_config: type[VllmConfig], ranks: int, extra: dict[str, Any], expected: int
) -> None:
    made = config(stock_config, ranks, **extra)
    assert AscendCPUOffloadingSpec(made, KV_CACHE).num_blocks == expected
    assert CPUOffloadingSpec(made, KV_CACHE).num_blocks == expected


def test_the_factory_of_vllm_finds_the_spec(stock_config: type[VllmConfig]) -> None:
    assert type(OffloadingSpecFactory.create_spec(config(stock_config), KV_CACHE)) is AscendCPUOffloadingSpec


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            {"cpu_bytes_to_use": BLOCK_BYTES - 1},
            f"hold no KV block: one of 128 tokens takes {BLOCK_BYTES} bytes",
        ),
        ({"cpu_bytes_to_use": BLOCK_BYTES, "block_size": 256}, "one of 256 tokens takes"),
        ({"cpu_bytes_to_use": -1}, "expected a number of bytes"),
        ({"cpu_bytes_to_use": None}, "expected a number of bytes"),
    ],
)
def test_a_budget_that_can_not_work_is_refused(
    stock_config: type[VllmConfig], extra: dict[str, Any], message: str
) -> None:
    assert (
        AscendCPUOffloadingSpec(config(stock_config, cpu_bytes_to_use=2 * BLOCK_BYTES), KV_CACHE).num_blocks
        == 2
    )
    with pytest.raises(ValueError, match=message):
        AscendCPUOffloadingSpec(config(stock_config, **extra), KV_CACHE)


def test_the_eviction_policies_are_those_of_vllm(stock_config: type[VllmConfig]) -> None:
    def manager(**extra: Any) -> object:
        return AscendCPUOffloadingSpec(config(stock_config, **extra), KV_CACHE).get_manager()

    assert isinstance(manager(), LRUOffloadingManager)
    assert isinstance(manager(eviction_policy="arc"), ARCOffloadingManager)
    with pytest.raises(ValueError, match="Unknown eviction policy: fifo"):
        manager(eviction_policy="fifo")
