"""Asynchronous copies of KV blocks between an NPU and host memory.

Ordering, which is what these handlers are about:

* Transfers of one direction run in the order they were submitted, on one stream.
* A transfer starts only after the work that the compute stream held when it was submitted. A store must read
  what the model has written. A load must not overwrite a block that a running step still reads or writes:
  with asynchronous scheduling the step in flight may hold a request that has already ended and whose blocks
  have been given to the next one. (vLLM's own handler, vllm/v1/kv_offload/worker/cpu_gpu.py, waits on stores
  only; vllm-ascend 0.18's, vllm_ascend/kv_offload/cpu_npu.py, on neither.)
* Compute sees what a load has brought because the scheduler runs the request only after `get_finished` has
  reported the load, and that is after its last copy.
"""

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass

import torch
from vllm.v1.kv_offload.mediums import BlockIDsLoadStoreSpec, CPULoadStoreSpec, GPULoadStoreSpec
from vllm.v1.kv_offload.worker.worker import OffloadingHandler, TransferResult, TransferSpec

from vllm_ascend_params.block_pairs import BlockIds, check_range, pair_blocks
from vllm_ascend_params.mirror import Pair


@dataclass(frozen=True)
class _Job:
    """A transfer under way."""

    id: int
    started: torch.npu.Event
    ended: torch.npu.Event
    bytes: int


class _Handler(OffloadingHandler, ABC):
    """One direction. The subclass says which side is the source."""

    source: type[BlockIDsLoadStoreSpec]
    target: type[BlockIDsLoadStoreSpec]

    def __init__(self, pairs: list[Pair], factor: int):
        """Copy between the two sides of `pairs`; a host block holds `factor` device blocks.

        Raises:
            RuntimeError: vllm-ascend's compiled extension, which does the copying, can't be loaded.
        """
        _load_swap_blocks()
        self._pairs = pairs
        self._factor = factor
        self._stream = torch.npu.Stream()
        self._jobs: deque[_Job] = deque()

    @abstractmethod
    def _copy(self, pairs: BlockIds) -> None:
        """Enqueue the copies for (n, 2) rows of host slot, device block on the current stream."""

    @abstractmethod
    def _host_and_device(self, source: BlockIds, target: BlockIds) -> tuple[BlockIds, BlockIds]:
        """Put the two sides' block ids in the order host, device."""

    def transfer_async(self, job_id: int, spec: TransferSpec) -> bool:
        """Start a transfer.

        Raises:
            ValueError: source and target don't hold equally many device blocks.
            IndexError: a block id is outside its pool.
        """
        source, target = spec
        host, device = self._host_and_device(source.block_ids, target.block_ids)
        pairs = pair_blocks(host, device, self._factor)
        for pair in self._pairs:
            check_range(pairs[:, 0], pair.host.shape[0], "host")
            check_range(pairs[:, 1], pair.device.shape[0], "device")

        started, ended = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
        self._stream.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(self._stream):
            started.record()
            self._copy(pairs)
            ended.record()
        self._jobs.append(_Job(job_id, started, ended, len(pairs) * sum(p.block_bytes for p in self._pairs)))
        return True

    def get_finished(self) -> list[TransferResult]:
        """Return the transfers that ended since the last call, in the order they were submitted."""
        results = []
        while self._jobs and self._jobs[0].ended.query():
            job = self._jobs.popleft()
            results.append(
                TransferResult(
                    job_id=job.id,
                    success=True,
                    transfer_size=job.bytes,
                    transfer_time=job.started.elapsed_time(job.ended) / 1000,  # vLLM counts seconds
                    transfer_type=(self.source.medium(), self.target.medium()),
                )
            )
        return results

    def wait(self, job_ids: set[int]) -> None:
        """Block until these transfers have ended; ids of finished or unknown ones are passed over."""
        for job in self._jobs:
            if job.id in job_ids:
                job.ended.synchronize()


class StoreHandler(_Handler):
    """NPU to host."""

    source, target = GPULoadStoreSpec, CPULoadStoreSpec

    def _host_and_device(self, source: BlockIds, target: BlockIds) -> tuple[BlockIds, BlockIds]:
        return target, source

    def _copy(self, pairs: BlockIds) -> None:
        mapping = torch.from_numpy(pairs[:, ::-1].copy())
        for pair in self._pairs:
            torch.ops._C_ascend.swap_blocks(pair.device, pair.host, mapping)


class LoadHandler(_Handler):
    """Host to NPU."""

    source, target = CPULoadStoreSpec, GPULoadStoreSpec

    def _host_and_device(self, source: BlockIds, target: BlockIds) -> tuple[BlockIds, BlockIds]:
        return source, target

    def _copy(self, pairs: BlockIds) -> None:
        mapping = torch.from_numpy(pairs)
        for pair in self._pairs:
            torch.ops._C_ascend.swap_blocks(pair.host, pair.device, mapping)


def _load_swap_blocks() -> None:
    """Load the extension of vllm-ascend that defines swap_blocks.

    Not through vllm_ascend.utils.enable_custom_op: that leaves the extension out in batch-invariant mode, for
    the sake of its compute kernels, and a copy is the same in any mode.
    """
    try:
        import vllm_ascend.vllm_ascend_C  # noqa: F401
    except ImportError as error:
        raise RuntimeError(
            f"vllm-ascend's extension vllm_ascend_C can't be loaded ({error}): KV offloading needs its "
            "swap_blocks; install a vllm-ascend that was built with COMPILE_CUSTOM_KERNELS=1"
        ) from error
