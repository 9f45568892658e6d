"""The offloading spec: vLLM's own bookkeeping, with handlers that work on an NPU."""

from collections.abc import Iterator

import torch
from vllm.config import VllmConfig
from vllm.v1.attention.backend import AttentionBackend
from vllm.v1.kv_cache_interface import KVCacheConfig
from vllm.v1.kv_offload.abstract import LoadStoreSpec
from vllm.v1.kv_offload.cpu import CPUOffloadingSpec
from vllm.v1.kv_offload.mediums import CPULoadStoreSpec, GPULoadStoreSpec
from vllm.v1.kv_offload.worker.worker import OffloadingHandler

from vllm_ascend_params.budget import byte_budget, refuse_empty_pool
from vllm_ascend_params.handlers import LoadHandler, StoreHandler
from vllm_ascend_params.mirror import mirror


class AscendCPUOffloadingSpec(CPUOffloadingSpec):
    """Offloading to host memory on an NPU.

    The pool's size, the LRU and ARC managers and `store_threshold` are inherited from vLLM's spec
    (vllm/v1/kv_offload/cpu.py); only what is tied to CUDA, the handlers, is replaced.
    """

    def __init__(self, vllm_config: VllmConfig, kv_cache_config: KVCacheConfig):
        """Check the byte budget, and count the blocks it holds as vLLM counts them.

        Raises:
            ValueError: `cpu_bytes_to_use` is no number of bytes, or holds not even one block.
        """
        budget = byte_budget(vllm_config.kv_transfer_config.kv_connector_extra_config.get("cpu_bytes_to_use"))
        super().__init__(vllm_config, kv_cache_config)
        device_block_bytes = (
            kv_cache_config.kv_cache_groups[0].kv_cache_spec.page_size_bytes
            * len(kv_cache_config.kv_cache_tensors)
            * vllm_config.parallel_config.world_size
        )
        refuse_empty_pool(
            budget,
            block_bytes=device_block_bytes * self.block_size_factor,
            block_tokens=self.gpu_block_size[0] * self.block_size_factor,
        )
        self._ascend_handlers: tuple[StoreHandler, LoadHandler] | None = None

    def get_handlers(
        self,
        kv_caches: dict[str, torch.Tensor | tuple[torch.Tensor, ...]],
        attn_backends: dict[str, type[AttentionBackend]],
    ) -> Iterator[tuple[type[LoadStoreSpec], type[LoadStoreSpec], OffloadingHandler]]:
        """Allocate the host pool for these caches (once) and yield the store handler, then the load handler.

        Args:
            kv_caches: each layer's caches, every one shaped (blocks, ...); see `mirror.mirror`.
            attn_backends: not needed: vllm-ascend keeps the blocks in dimension 0, whatever the backend.
        """
        if self._ascend_handlers is None:
            pairs = mirror(
                kv_caches,
                device_blocks=self.kv_cache_config.num_blocks,
                host_blocks=self.num_blocks,
                factor=self.block_size_factor,
            )
            self._ascend_handlers = (
                StoreHandler(pairs, self.block_size_factor),
                LoadHandler(pairs, self.block_size_factor),
            )
        store, load = self._ascend_handlers
        yield GPULoadStoreSpec, CPULoadStoreSpec, store
        yield CPULoadStoreSpec, GPULoadStoreSpec, load
