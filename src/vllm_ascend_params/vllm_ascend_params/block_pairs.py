"""Which host slot goes with which device block.

A host block holds `factor` device blocks, each in a slot of its own: host block b has the slots
b * factor .. b * factor + factor - 1. A transfer may begin inside its first host block, never end inside
its last one (vllm/v1/kv_offload/worker/cpu_gpu.py, `transfer_async`).
"""

import numpy as np
import numpy.typing as npt

BlockIds = npt.NDArray[np.int64]


def pair_blocks(host_blocks: BlockIds, device_blocks: BlockIds, factor: int) -> BlockIds:
    """Pair the slots of the host blocks with the device blocks, in order.

    Args:
        host_blocks: (h,) ids of host blocks.
        device_blocks: (d,) ids of device blocks.
        factor: device blocks in a host block.

    Returns:
        (d, 2) rows of host slot, device block. Where d is not a multiple of the factor, the first slots of
        the first host block are left out.

    Raises:
        ValueError: the host blocks are not as many as the device blocks need.
    """
    skipped = -device_blocks.size % factor
    if host_blocks.size * factor - skipped != device_blocks.size:
        raise ValueError(
            f"{device_blocks.size} device blocks with {host_blocks.size} host blocks of {factor} each: "
            f"expected {-(-device_blocks.size // factor)} host blocks"
        )
    slots = (host_blocks[:, None] * factor + np.arange(factor)).reshape(-1)[skipped:]
    return np.stack([slots, device_blocks], axis=1)


def check_range(ids: BlockIds, count: int, where: str) -> None:
    """Refuse an id outside 0 .. count - 1.

    vllm-ascend 0.18's swap_blocks lets `count` itself pass (csrc/torch_binding.cpp, swap_blocks_impl), which
    would copy beyond the end of the pool.

    Raises:
        IndexError: with the first id that is out of range.
    """
    outside = ids[(ids < 0) | (ids >= count)]
    if outside.size:
        raise IndexError(f"KV block {outside[0]} on the {where}: expected 0 to {count - 1}")
