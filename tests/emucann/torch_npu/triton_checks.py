"""What stands for a Triton kernel of vLLM: launched like it, on the current stream, with its arguments."""

import emucann_ops.triton_kernels
import pytest
import torch

BLOCK = 4
#: The kernel's constants, as vllm-ascend passes them (vllm_ascend/worker/block_table.py of 0.22).
CONSTANTS = {
    "TOTAL_CP_WORLD_SIZE": 1,
    "TOTAL_CP_RANK": 0,
    "CP_KV_CACHE_INTERLEAVE_SIZE": 1,
    "PAD_ID": -1,
    "BLOCK_SIZE": 1024,
}


def launch(**changes: int) -> torch.Tensor:
    """Map the tokens of two requests, of three that the block table has room for."""
    starts = torch.tensor([0, 3, 5], dtype=torch.int32).npu()
    positions = torch.tensor([0, 1, 2, 6, 7]).npu()
    table = torch.tensor([[8, 0, 0], [9, 5, 0], [0, 0, 0]], dtype=torch.int32).npu()
    slots = torch.full((8,), 77, dtype=torch.int32).npu()
    kernel = emucann_ops.triton_kernels.Kernel(emucann_ops.triton_kernels._slot_mapping)
    kernel[(3,)](5, 8, starts, positions, table, table.stride(0), BLOCK, slots, **CONSTANTS | changes)
    return slots.cpu()


def test_slot_mapping():
    assert launch().tolist() == [32, 33, 34, 22, 23, -1, -1, -1]
    assert launch(PAD_ID=-5).tolist()[5:] == [-5, -5, -5]


def test_slot_mapping_of_context_parallelism_is_refused():
    with pytest.raises(NotImplementedError, match="context parallelism"):
        launch(TOTAL_CP_WORLD_SIZE=2)
