"""How much host memory the offloaded KV cache may take, as a number of bytes."""

import math

GIB = 1 << 30


def bytes_of_gib(size: float) -> int:
    """Turn `--kv-offloading-size`, GiB over all tensor- and pipeline-parallel ranks, into bytes.

    Raises:
        ValueError: the size is not a finite number above zero.
    """
    if not math.isfinite(size) or size <= 0:
        raise ValueError(
            f"--kv-offloading-size {size}: expected a number of GiB above 0 "
            "(host memory for the KV cache, over all ranks), or no --kv-offloading-size at all"
        )
    return byte_budget(size * GIB)


def byte_budget(value: object) -> int:
    """Read `cpu_bytes_to_use` of kv_connector_extra_config as a whole number of bytes.

    vLLM 0.18 puts a float there, and JSON from a command line may hold a string.

    Raises:
        ValueError: it is absent, no number, or rounds down to less than one byte.
    """
    try:
        budget = int(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        budget = 0
    if budget < 1:
        raise ValueError(
            f"cpu_bytes_to_use {value!r} in kv_connector_extra_config: expected a number of bytes, 1 or more"
        )
    return budget


def refuse_empty_pool(budget: int, block_bytes: int, block_tokens: int) -> None:
    """Refuse a budget that holds not even one block.

    Args:
        budget: bytes over all ranks.
        block_bytes: bytes of one offloaded block over all ranks, K and V of every layer.
        block_tokens: tokens of one offloaded block.

    Raises:
        ValueError: the budget is smaller than one block.
    """
    if budget < block_bytes:
        raise ValueError(
            f"{budget} bytes of host memory hold no KV block: one of {block_tokens} tokens takes "
            f"{block_bytes} bytes over all ranks; raise --kv-offloading-size to at least "
            f"{_ceil_gib(block_bytes):.6f} GiB"
        )


def _ceil_gib(size: int) -> float:
    """Return bytes as GiB, rounded up to the six digits that a message shows."""
    return math.ceil(size / GIB * 1e6) / 1e6
