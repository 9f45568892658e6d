"""What a suite asks of vLLM's workers, which live in processes of their own.

`worker_extension_cls` of vLLM (vllm/config/parallel.py) mixes this class into the worker's, in every process.
"""

import os

import torch

from support.cann import loaded_cann_libraries


class Inspection:
    """Methods for `LLM.collective_rpc`."""

    def cann_libraries(self) -> tuple[str, list[str]]:
        """Return this worker's name and the CANN libraries it has loaded."""
        return f"worker {self.rank} pid {os.getpid()}", loaded_cann_libraries()

    def overwrite_kv_cache(self, seed: int) -> int:
        """Fill every KV cache on the device with other, finite numbers; return how many bytes that were."""
        written = 0
        generator = torch.Generator().manual_seed(seed)
        for layer in self.model_runner.kv_caches:
            for cache in [layer] if isinstance(layer, torch.Tensor) else layer:
                block = torch.rand(cache.shape[1:], generator=generator).to(cache.dtype)
                cache.copy_(block.to(cache.device).expand_as(cache))
                written += cache.numel() * cache.element_size()
        torch.npu.synchronize()
        return written
