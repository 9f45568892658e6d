"""NPU to host and back, bit for bit, and nothing else changed."""

import pytest
import torch
from offloading import Layout, Offloading

KEYS_AND_VALUES = ((2, 32), (2, 32))
MLA = ((1, 64), (1, 16))  # the latent part and the rope part

DTYPES = [
    pytest.param(dtype, id=str(dtype).removeprefix("torch."))
    for dtype in (torch.float16, torch.bfloat16, torch.float32)
]
COMPONENTS = [pytest.param(KEYS_AND_VALUES, id="keys-and-values"), pytest.param(MLA, id="mla")]
FACTORS = [pytest.param(factor, id=f"factor-{factor}") for factor in (1, 2)]


def assert_same_bits(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Compare as bytes: random bits hold NaNs, which are equal to nothing."""
    different = (found.view(torch.uint8) != expected.view(torch.uint8)).flatten(1).sum(1)
    assert not different.any(), f"bytes that differ in blocks: {different.tolist()}"


def assert_caches(offloading: Offloading, expected: list[torch.Tensor]) -> None:
    for cache, content in zip(offloading.caches, expected, strict=True):
        assert_same_bits(cache.cpu(), content)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("components", COMPONENTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_come_back_after_the_device_was_overwritten(
    dtype: torch.dtype, components: tuple[tuple[int, int], ...], factor: int
) -> None:
    layout = Layout(dtype=dtype, components=components, factor=factor)
    original, other = layout.random_caches(seed=1), layout.random_caches(seed=2)
    offloading = Offloading(layout, original)

    # Two requests, whose host blocks lie between each other's.
    first, second = [3, 10, 1, 8], [7, 0, 11, 2]
    first_host, second_host = ([5, 0, 2, 4], [1, 3]) if factor == 1 else ([4, 1], [0, 3])
    if factor == 1:
        second = second[:2]
    offloading.finish(offloading.start_store(first, first_host), offloading.start_store(second, second_host))
    assert_caches(offloading, original)

    offloading.overwrite(other)
    assert_caches(offloading, other)

    # Back to other blocks than they came from, as after a new allocation.
    first_target, second_target = [9, 3, 0, 6], [4, 1, 8, 10][: len(second)]
    offloading.finish(
        offloading.start_load(first_host, first_target), offloading.start_load(second_host, second_target)
    )
    expected = [content.clone() for content in other]
    for content, source in zip(expected, original, strict=True):
        content[first_target + second_target] = source[first + second]
    assert_caches(offloading, expected)


@pytest.mark.parametrize("components", COMPONENTS)
def test_a_load_may_begin_inside_a_host_block(components: tuple[tuple[int, int], ...]) -> None:
    layout = Layout(dtype=torch.bfloat16, components=components, factor=2)
    original, other = layout.random_caches(seed=3), layout.random_caches(seed=4)
    offloading = Offloading(layout, original)
    stored = [2, 5, 11, 4]
    offloading.finish(offloading.start_store(stored, [3, 0]))
    offloading.overwrite(other)

    # The scheduler asks for this where the device still has the first block of the two.
    target = [6, 7, 1]
    offloading.finish(offloading.start_load([3, 0], target))
    expected = [content.clone() for content in other]
    for content, source in zip(expected, original, strict=True):
        content[target] = source[stored[1:]]
    assert_caches(offloading, expected)


def test_a_flipped_bit_does_not_compare_equal() -> None:
    content = Layout(dtype=torch.bfloat16).random_caches(seed=5)[0]
    assert_same_bits(content.clone(), content)
    flipped = content.clone()
    flipped.view(torch.uint8)[7, 3, 0, 0] ^= 1
    with pytest.raises(AssertionError, match=r"\[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0\]"):
        assert_same_bits(flipped, content)
