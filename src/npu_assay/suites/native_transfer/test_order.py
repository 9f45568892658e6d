"""Transfers and compute wait for each other where it matters.

The compute stream is stalled first, so that a transfer which doesn't wait overtakes the work behind the stall
and the data shows it.
"""

from collections.abc import Sequence

import torch
from offloading import Layout, Offloading
from support.stall import stall_current_stream
from test_round_trip import assert_caches, assert_same_bits

BLOCKS, HOST_BLOCKS = [3, 10, 1], [5, 0, 2]


def stalled() -> bool:
    """Whether the current stream still has work to do."""
    return not torch.npu.current_stream().query()


def on_device(contents: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return copies on the device, complete before this returns."""
    copies = [content.to("npu") for content in contents]
    torch.npu.synchronize()
    return copies


def test_the_stall_holds_the_stream_up() -> None:
    torch.zeros(1, device="npu")
    torch.npu.synchronize()
    assert not stalled()
    stall_current_stream()
    assert stalled()
    torch.npu.synchronize()
    assert not stalled()


def test_a_store_reads_what_compute_writes_before_it() -> None:
    layout = Layout(dtype=torch.float32)
    before, written, other = (layout.random_caches(seed) for seed in (1, 2, 3))
    offloading = Offloading(layout, before)
    writes = on_device(written)

    stall_current_stream()
    for cache, write in zip(offloading.caches, writes, strict=True):
        cache.copy_(write, non_blocking=True)
    job = offloading.start_store(BLOCKS, HOST_BLOCKS)
    assert stalled(), "the stall was over before the store was started: this run shows nothing"
    offloading.finish(job)
    torch.npu.synchronize()

    offloading.overwrite(other)
    offloading.finish(offloading.start_load(HOST_BLOCKS, BLOCKS))
    expected = [content.clone() for content in other]
    for content, source in zip(expected, written, strict=True):
        content[BLOCKS] = source[BLOCKS]
    assert_caches(offloading, expected)


def test_a_load_does_not_overwrite_what_compute_still_reads() -> None:
    layout = Layout(dtype=torch.float32)
    stored, current = layout.random_caches(seed=4), layout.random_caches(seed=5)
    offloading = Offloading(layout, stored)
    offloading.finish(offloading.start_store(BLOCKS, HOST_BLOCKS))
    offloading.overwrite(current)
    reads = on_device(torch.zeros_like(content) for content in current)

    stall_current_stream()
    for read, cache in zip(reads, offloading.caches, strict=True):
        read.copy_(cache, non_blocking=True)
    job = offloading.start_load(HOST_BLOCKS, BLOCKS)
    assert stalled(), "the stall was over before the load was started: this run shows nothing"
    offloading.finish(job)
    torch.npu.synchronize()

    for read, content in zip(reads, current, strict=True):
        assert_same_bits(read.cpu(), content)
    expected = [content.clone() for content in current]
    for content, source in zip(expected, stored, strict=True):
        content[BLOCKS] = source[BLOCKS]
    assert_caches(offloading, expected)


def test_compute_sees_a_load_that_was_reported() -> None:
    layout = Layout(dtype=torch.float32)
    stored, other = layout.random_caches(seed=6), layout.random_caches(seed=7)
    offloading = Offloading(layout, stored)
    offloading.finish(offloading.start_store(BLOCKS, HOST_BLOCKS))
    offloading.overwrite(other)
    offloading.finish(offloading.start_load(HOST_BLOCKS, BLOCKS))
    for cache, content in zip(offloading.caches, stored, strict=True):
        seen = torch.empty_like(cache).copy_(cache, non_blocking=True).cpu()
        assert_same_bits(seen[BLOCKS], content[BLOCKS])


def test_transfers_of_one_direction_keep_their_order() -> None:
    layout = Layout(dtype=torch.float32)
    contents = layout.random_caches(seed=8)
    offloading = Offloading(layout, contents)
    # Two stores to the same host blocks: the later one must win.
    jobs = [offloading.start_store([0, 4, 7], HOST_BLOCKS), offloading.start_store(BLOCKS, HOST_BLOCKS)]
    offloading.finish(*jobs)
    offloading.overwrite(layout.random_caches(seed=9))
    offloading.finish(offloading.start_load(HOST_BLOCKS, BLOCKS))
    for cache, content in zip(offloading.caches, contents, strict=True):
        assert_same_bits(cache.cpu()[BLOCKS], content[BLOCKS])
