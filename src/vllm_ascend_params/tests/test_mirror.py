"""Host pools for the device's caches. Here they lie on the CPU: only shapes matter."""

import pytest
import torch

from vllm_ascend_params.mirror import mirror

BLOCKS, TOKENS = 6, 16


def cache(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.zeros(BLOCKS, TOKENS, *shape, dtype=dtype)


def shapes(kv_caches: dict, host_blocks: int = 5, factor: int = 2) -> list[tuple[int, ...]]:
    pairs = mirror(kv_caches, device_blocks=BLOCKS, host_blocks=host_blocks, factor=factor)
    assert all(pair.host.dtype == pair.device.dtype for pair in pairs)
    return [tuple(pair.host.shape) for pair in pairs]


def test_keys_and_values_get_a_pool_each() -> None:
    layers = {f"layer.{n}": (cache(2, 8), cache(2, 8)) for n in range(3)}
    assert shapes(layers) == [(10, TOKENS, 2, 8)] * 6


def test_mla_keeps_the_latent_and_the_rope_part_apart() -> None:
    (pair_latent, pair_rope) = mirror(
        {"layer.0": (cache(1, 512), cache(1, 64))}, BLOCKS, host_blocks=5, factor=2
    )
    assert tuple(pair_latent.host.shape) == (10, TOKENS, 1, 512)
    assert tuple(pair_rope.host.shape) == (10, TOKENS, 1, 64)
    assert (pair_latent.block_bytes, pair_rope.block_bytes) == (TOKENS * 512 * 2, TOKENS * 64 * 2)


def test_sparse_attention_has_a_third_cache_of_another_type() -> None:
    layer = (cache(1, 512), cache(1, 64), cache(1, 128, dtype=torch.int8))
    assert shapes({"layer.0": layer}) == [(10, TOKENS, 1, 512), (10, TOKENS, 1, 64), (10, TOKENS, 1, 128)]


def test_layers_that_share_a_cache_share_its_pool() -> None:
    shared = (cache(2, 8), cache(2, 8))
    assert len(shapes({"layer.0": shared, "layer.1": shared})) == 2
    assert len(shapes({"layer.0": shared, "layer.1": (cache(2, 8), cache(2, 8))})) == 4


def test_a_cache_that_begins_inside_its_storage_is_mirrored_by_its_own_blocks() -> None:
    # vllm-ascend aligns the caches inside larger buffers.
    storage = torch.zeros(BLOCKS * TOKENS * 8 + 3, dtype=torch.float32)
    assert shapes({"layer.0": (storage[3:].view(BLOCKS, TOKENS, 8),)}) == [(10, TOKENS, 8)]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(torch.zeros(2, BLOCKS, TOKENS, 8), "expected 6 blocks", id="keys and values first"),
        pytest.param(torch.zeros(2 * BLOCKS, TOKENS // 2, 8), "expected 6 blocks", id="kernel blocks"),
        pytest.param(
            torch.zeros(TOKENS, BLOCKS, 8).transpose(0, 1), "expected whole blocks", id="blocks inside"
        ),
        pytest.param(
            torch.zeros(BLOCKS, 2, TOKENS, 8)[:, 0], "expected whole blocks", id="gaps between blocks"
        ),
    ],
)
def test_a_layout_that_swap_blocks_would_garble_is_refused(fault: torch.Tensor, message: str) -> None:
    assert shapes({"layer.0": (cache(2, 8),)}) == [(10, TOKENS, 2, 8)]
    with pytest.raises(ValueError, match=message) as error:
        shapes({"layer.0": (cache(2, 8),), "layer.1": (fault,)})
    assert "layer.1" in str(error.value)
