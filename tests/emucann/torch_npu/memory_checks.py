"""The caching allocator on the emulated memory. Needs EMUCANN_MEMORY_MB=256."""

import gc

import pytest
import torch

MIB = 1 << 20
LIMIT = 256 * MIB


@pytest.fixture(autouse=True)
def _empty():
    gc.collect()
    torch.npu.empty_cache()
    yield
    gc.collect()
    torch.npu.empty_cache()
    assert torch.npu.memory_allocated() == 0
    assert torch.npu.mem_get_info()[0] == LIMIT, "the emulated device leaks"


def test_statistics_follow_tensors():
    assert torch.npu.mem_get_info() == (LIMIT, LIMIT)
    tensor = torch.zeros(8 * MIB, dtype=torch.uint8, device="npu")
    # torch-npu's allocator asks for some bytes more than the tensor has, in units of 512.
    assert 8 * MIB <= torch.npu.memory_allocated() <= 8 * MIB + 1024
    assert torch.npu.memory_reserved() >= 8 * MIB
    assert torch.npu.mem_get_info()[0] == LIMIT - torch.npu.memory_reserved()
    del tensor
    assert torch.npu.memory_allocated() == 0
    assert torch.npu.max_memory_allocated() >= 8 * MIB


def test_the_limit_is_an_out_of_memory_error():
    kept = torch.ones(200 * MIB, dtype=torch.uint8, device="npu")
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(100 * MIB, dtype=torch.uint8, device="npu")
    assert int(kept[-1]) == 1
    del kept
    torch.npu.empty_cache()
    assert int(torch.ones(200 * MIB, dtype=torch.uint8, device="npu")[-1]) == 1


def test_cached_blocks_are_given_back_before_memory_is_out():
    for _ in range(5):
        blocks = [torch.empty(40 * MIB, dtype=torch.uint8, device="npu") for _ in range(5)]
        del blocks
        assert torch.empty(230 * MIB, dtype=torch.uint8, device="npu").numel() == 230 * MIB


def test_pinned_memory():
    pageable = torch.arange(1000)
    assert not pageable.is_pinned()
    pinned = pageable.pin_memory()
    assert pinned.is_pinned()
    assert torch.equal(pinned, pageable)
    on_device = pinned.to("npu", non_blocking=True)
    back = torch.empty(1000, dtype=torch.long, pin_memory=True)
    back.copy_(on_device, non_blocking=True)
    torch.npu.synchronize()
    assert torch.equal(back, pageable)


def test_a_million_small_tensors_do_not_leak():
    for _ in range(2000):
        torch.ones(10, device="npu").add_(1)
    torch.npu.synchronize()
