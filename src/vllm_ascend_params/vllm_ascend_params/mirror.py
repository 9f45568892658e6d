"""The host tensors that the device's KV caches are offloaded to."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from vllm.utils.platform_utils import is_pin_memory_available


@dataclass(frozen=True)
class Pair:
    """A device cache (blocks, ...) and its host pool (slots, ...), alike in dtype and trailing shape."""

    device: torch.Tensor
    host: torch.Tensor

    @property
    def block_bytes(self) -> int:
        """Bytes of one device block, and of one slot."""
        return self.device.stride(0) * self.device.element_size()


def mirror(
    kv_caches: Mapping[str, torch.Tensor | tuple[torch.Tensor, ...]],
    device_blocks: int,
    host_blocks: int,
    factor: int,
) -> list[Pair]:
    """Allocate one host pool for each distinct device cache.

    vllm-ascend registers for each layer a tuple of caches whose shapes may differ: keys and values, with MLA
    the latent part and the rope part, with sparse attention an indexer's too (`_reshape_kv_cache_tensors` of
    vllm_ascend/worker/model_runner_v1.py). Each keeps its own shape here. Layers that share a cache share its
    pool.

    The pools are not cleared: a slot is read only after a store has filled it.

    Args:
        kv_caches: layer name to its caches, each (device_blocks, ...).
        device_blocks: blocks that the scheduler hands out.
        host_blocks: blocks of the host pool.
        factor: device blocks in a host block.

    Raises:
        ValueError: a cache whose dimension 0 isn't the scheduler's blocks, or whose blocks aren't contiguous.
    """
    pairs: dict[int, Pair] = {}
    for layer, caches in kv_caches.items():
        for cache in (caches,) if isinstance(caches, torch.Tensor) else caches:
            if cache.data_ptr() not in pairs:
                _check_layout(layer, cache, device_blocks)
                host = torch.empty(
                    (host_blocks * factor, *cache.shape[1:]),
                    dtype=cache.dtype,
                    # Pinned for the sake of the device, which then copies without waiting for the host.
                    pin_memory=cache.device.type != "cpu" and is_pin_memory_available(),
                )
                pairs[cache.data_ptr()] = Pair(cache, host)
    return list(pairs.values())


def _check_layout(layer: str, cache: torch.Tensor, device_blocks: int) -> None:
    if cache.shape[0] != device_blocks:
        raise ValueError(
            f"KV cache of {layer} has shape {tuple(cache.shape)}: expected {device_blocks} blocks in "
            "dimension 0; this layout can't be offloaded, start without --kv-offloading-size"
        )
    if not cache[0].is_contiguous() or cache.stride(0) != cache[0].numel():
        raise ValueError(
            f"KV cache of {layer} has shape {tuple(cache.shape)} and strides {cache.stride()}: expected "
            "whole blocks one after the other; this layout can't be offloaded, start without "
            "--kv-offloading-size"
        )
