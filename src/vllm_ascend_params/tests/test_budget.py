"""Bytes of host memory."""

import math

import pytest

from vllm_ascend_params.budget import GIB, byte_budget, bytes_of_gib, refuse_empty_pool


@pytest.mark.parametrize(("size", "expected"), [(4, 4 * GIB), (0.5, GIB // 2), (1 / GIB, 1), (1e-3, 1073741)])
def test_gib_become_whole_bytes(size: float, expected: int) -> None:
    assert bytes_of_gib(size) == expected
    assert type(bytes_of_gib(size)) is int


def test_less_than_a_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a number of bytes, 1 or more"):
        bytes_of_gib(1e-12)


@pytest.mark.parametrize(
    ("value", "expected"), [(4294967296.0, 4294967296), (1, 1), ("1e9", 10**9), (1.9, 1)]
)
def test_budgets_from_configs_are_read(value: object, expected: int) -> None:
    assert byte_budget(value) == expected


@pytest.mark.parametrize("value", [None, 0, 0.5, -1, math.nan, math.inf, "4GB", [], "0"])
def test_what_is_no_budget_is_refused_and_quoted(value: object) -> None:
    with pytest.raises(ValueError, match="cpu_bytes_to_use") as error:
        byte_budget(value)
    assert repr(value) in str(error.value)


def test_a_pool_holds_a_block_or_is_refused_with_the_size_that_would_do() -> None:
    refuse_empty_pool(budget=1000, block_bytes=1000, block_tokens=128)
    with pytest.raises(
        ValueError, match="999 bytes of host memory hold no KV block: one of 128 tokens takes 1000"
    ):
        refuse_empty_pool(budget=999, block_bytes=1000, block_tokens=128)
    with pytest.raises(ValueError, match="at least") as error:
        refuse_empty_pool(budget=1, block_bytes=3 * GIB // 2 + 1, block_tokens=128)
    advised = float(str(error.value).split("at least ")[1].split()[0])
    assert bytes_of_gib(advised) >= 3 * GIB // 2 + 1
