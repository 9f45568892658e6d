"""vLLM's offloading worker, made as a model runner makes it.

That is from a config with the two flags, through the spec that the config names: what is installed decides
whose handlers these are.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from vllm.config import CacheConfig, VllmConfig
from vllm.plugins import load_general_plugins
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec, KVCacheTensor
from vllm.v1.kv_offload.abstract import LoadStoreSpec
from vllm.v1.kv_offload.factory import OffloadingSpecFactory
from vllm.v1.kv_offload.mediums import CPULoadStoreSpec, GPULoadStoreSpec
from vllm.v1.kv_offload.worker.worker import OffloadingHandler, OffloadingWorker

GIB = 1 << 30

#: Each layer's caches.
Caches = dict[str, tuple[torch.Tensor, ...]]
#: What is copied from where, what to, and who does it.
Handler = tuple[type[LoadStoreSpec], type[LoadStoreSpec], OffloadingHandler]


@dataclass(frozen=True)
class Layout:
    """The KV caches of a model.

    Attributes:
        dtype: of every cache.
        components: shape of one token in each cache of a layer: keys and values, or MLA's two parts.
        layers: layers of the model.
        block_tokens: tokens of a device block.
        device_blocks: blocks of each cache on the device.
        host_blocks: blocks of the host pool.
        factor: device blocks in a host block.
    """

    dtype: torch.dtype
    components: tuple[tuple[int, int], ...] = ((2, 32), (2, 32))
    layers: int = 2
    block_tokens: int = 16
    device_blocks: int = 12
    host_blocks: int = 6
    factor: int = 1

    @property
    def block_bytes(self) -> int:
        """Bytes of one device block, over all layers."""
        per_token = sum(math.prod(shape) for shape in self.components)
        return self.layers * self.block_tokens * per_token * self.dtype.itemsize

    def random_caches(self, seed: int) -> list[torch.Tensor]:
        """Return every cache of every layer, filled with random bits, in host memory."""
        generator = torch.Generator().manual_seed(seed)
        caches = []
        for shape in self.components * self.layers:
            size = (self.device_blocks, self.block_tokens, shape[0], shape[1] * self.dtype.itemsize)
            bits = torch.randint(0, 256, size, dtype=torch.uint8, generator=generator)
            caches.append(bits.view(self.dtype))
        return caches


MakeHandlers = Callable[[Layout, Caches], Iterator[Handler]]


class Offloading:
    """Caches on the device, and vLLM's worker that offloads them."""

    def __init__(
        self, layout: Layout, contents: Sequence[torch.Tensor], make_handlers: MakeHandlers | None = None
    ):
        """Put the contents on the device and make the worker for them.

        Args:
            layout: of the caches.
            contents: of every cache.
            make_handlers: the handlers to use; None for those of the spec that the flags name.
        """
        self.caches = [cache.to("npu") for cache in contents]
        torch.npu.synchronize()
        self._jobs = 0
        width = len(layout.components)
        names = [f"layer.{n}" for n in range(layout.layers)]
        by_layer = {name: tuple(self.caches[n * width : (n + 1) * width]) for n, name in enumerate(names)}
        self._worker = OffloadingWorker()
        for source, target, handler in (make_handlers or _of_the_spec)(layout, by_layer):
            self._worker.register_handler(source, target, handler)

    def start_store(self, device_blocks: Sequence[int], host_blocks: Sequence[int]) -> int:
        """Start to copy device blocks to host blocks, and return the job's id."""
        return self._start(GPULoadStoreSpec(list(device_blocks)), CPULoadStoreSpec(list(host_blocks)))

    def start_load(self, host_blocks: Sequence[int], device_blocks: Sequence[int]) -> int:
        """Start to copy host blocks to device blocks, and return the job's id."""
        return self._start(CPULoadStoreSpec(list(host_blocks)), GPULoadStoreSpec(list(device_blocks)))

    def finish(self, *jobs: int) -> None:
        """Wait for the jobs, and see that the worker reports each as a success."""
        self._worker.wait(set(jobs))
        results = self._worker.get_finished()
        assert sorted(result.job_id for result in results) == sorted(jobs)
        assert all(result.success for result in results)

    def overwrite(self, contents: Sequence[torch.Tensor]) -> None:
        """Replace what the device's caches hold, and wait until that is done."""
        for cache, content in zip(self.caches, contents, strict=True):
            cache.copy_(content)
        torch.npu.synchronize()

    def _start(self, source: object, target: object) -> int:
        self._jobs += 1
        assert self._worker.transfer_async(self._jobs, (source, target)), "the transfer was not started"
        return self._jobs


def _of_the_spec(layout: Layout, by_layer: Caches) -> Iterator[Handler]:
    spec = OffloadingSpecFactory.create_spec(_config(layout), _kv_cache_config(layout, [*by_layer]))
    return spec.get_handlers(by_layer, {})


def _config(layout: Layout) -> VllmConfig:
    load_general_plugins()
    size = layout.host_blocks * layout.factor * layout.block_bytes / GIB
    config = VllmConfig(
        cache_config=CacheConfig(
            block_size=layout.block_tokens, kv_offloading_size=size, kv_offloading_backend="native"
        )
    )
    config.kv_transfer_config.kv_connector_extra_config["block_size"] = layout.block_tokens * layout.factor
    return config


def _kv_cache_config(layout: Layout, names: list[str]) -> KVCacheConfig:
    heads = layout.components[0][0]
    page = FullAttentionSpec(
        block_size=layout.block_tokens,
        num_kv_heads=heads,
        head_size=layout.components[0][1],
        head_size_v=layout.components[1][1],
        dtype=layout.dtype,
    )
    assert page.page_size_bytes * layout.layers == layout.block_bytes
    size = page.page_size_bytes * layout.device_blocks
    return KVCacheConfig(
        num_blocks=layout.device_blocks,
        kv_cache_tensors=[KVCacheTensor(size=size, shared_by=[name]) for name in names],
        kv_cache_groups=[KVCacheGroupSpec(names, page)],
    )
