"""Triton kernels of vLLM that an engine can't do without, as ops of the emulator.

No driver of Triton is active here, so vLLM has a placeholder for Triton, under which a kernel is a plain
Python function that can't be launched (vllm/triton_utils/importing.py). Most callers know a way without
Triton; vllm-ascend from 0.22 on has none for `_compute_slot_mapping_kernel`
(vllm_ascend/worker/block_table.py). vLLM's own CPU backend puts something else in that kernel's place in the
same way (vllm/v1/worker/cpu_model_runner.py).
"""

from collections.abc import Callable

import emucann_ops


class Kernel:
    """What stands where a kernel stood: `kernel[grid](...)` calls a function with the grid and the
    arguments."""

    def __init__(self, launch: Callable[..., None]):
        self._launch = launch

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        return lambda *arguments, **constants: self._launch(grid, *arguments, **constants)


def register() -> None:
    """For vLLM's plug-ins: load the ops, and replace the kernels that this vLLM has and can't launch."""
    emucann_ops.load()
    from vllm.v1.worker import block_table

    kernel = getattr(block_table, "_compute_slot_mapping_kernel", None)
    if kernel is not None and not hasattr(kernel, "__getitem__"):
        block_table._compute_slot_mapping_kernel = Kernel(_slot_mapping)


def _slot_mapping(
    grid,
    tokens,
    max_tokens,
    query_start_loc,
    positions,
    block_table,
    row,
    block_size,
    slot_mapping,
    **constants,
) -> None:
    """One program a request, and one for the padding; the arguments of the kernel, in order."""
    import torch

    if constants["TOTAL_CP_WORLD_SIZE"] != 1:
        raise NotImplementedError("emucann: the slot mapping of context parallelism is not implemented")
    torch.ops.emucann.slot_mapping(
        query_start_loc[: grid[0]],
        positions[:tokens],
        block_table.view(-1, row),
        block_size,
        constants["PAD_ID"],
        slot_mapping[:max_tokens],
    )
