"""vllm-ascend's own handler (vllm_ascend/kv_offload/cpu_npu.py) moves blocks to the host and back.

vllm_ascend_params takes its place in the engine, because it waits for no compute and takes no two-part caches
(test_order.py, MLA). What it can do is held here, so that a change to it is noticed.
"""

import importlib.util
from collections.abc import Iterator

import pytest
import torch
from offloading import Caches, Handler, Layout, Offloading
from test_round_trip import FACTORS, assert_caches
from vllm.v1.kv_offload.mediums import CPULoadStoreSpec, GPULoadStoreSpec

MODULE = "vllm_ascend.kv_offload.cpu_npu"


def upstreams(layout: Layout, by_layer: Caches) -> Iterator[Handler]:
    """Its handler, for both directions, as its own spec makes it."""
    if importlib.util.find_spec(MODULE) is None:
        pytest.skip(f"no {MODULE} in this vllm-ascend")
    from vllm_ascend.kv_offload.cpu_npu import CpuNpuOffloadingHandler
    from vllm_ascend.utils import enable_custom_op

    enable_custom_op()
    handler = CpuNpuOffloadingHandler(
        gpu_block_size=layout.block_tokens,
        cpu_block_size=layout.block_tokens * layout.factor,
        num_cpu_blocks=layout.host_blocks,
        gpu_caches=by_layer,
        attn_backends={},
    )
    yield GPULoadStoreSpec, CPULoadStoreSpec, handler
    yield CPULoadStoreSpec, GPULoadStoreSpec, handler


@pytest.mark.parametrize("factor", FACTORS)
def test_blocks_come_back_with_vllm_ascends_own_handler(factor: int) -> None:
    layout = Layout(dtype=torch.float16, factor=factor)
    original, other = layout.random_caches(seed=11), layout.random_caches(seed=12)
    offloading = Offloading(layout, original, upstreams)
    stored, host = [3, 10, 1, 8], [5, 0, 2, 4][: 4 // factor]
    offloading.finish(offloading.start_store(stored, host))
    assert_caches(offloading, original)
    offloading.overwrite(other)
    assert_caches(offloading, other)

    target = [9, 3, 0, 6]
    offloading.finish(offloading.start_load(host, target))
    expected = [content.clone() for content in other]
    for content, source in zip(expected, original, strict=True):
        content[target] = source[stored]
    assert_caches(offloading, expected)
