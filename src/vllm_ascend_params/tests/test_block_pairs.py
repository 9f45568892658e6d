"""Which host slot goes with which device block."""

import itertools

import numpy as np
import pytest

from vllm_ascend_params.block_pairs import check_range, pair_blocks


def ids(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("host", "device", "factor", "expected"),
    [
        pytest.param(ids(7, 2), ids(5, 9), 1, [(7, 5), (2, 9)], id="equal blocks"),
        pytest.param(ids(3, 0), ids(8, 1, 4, 6), 2, [(6, 8), (7, 1), (0, 4), (1, 6)], id="whole host blocks"),
        pytest.param(
            ids(0, 1), ids(1, 2, 3), 2, [(1, 1), (2, 2), (3, 3)], id="begins inside the first host block"
        ),
        pytest.param(ids(5), ids(9), 4, [(23, 9)], id="only the last slot"),
        pytest.param(ids(), ids(), 3, [], id="nothing"),
    ],
)
def test_pairs(host: np.ndarray, device: np.ndarray, factor: int, expected: list[tuple[int, int]]) -> None:
    assert list(map(tuple, pair_blocks(host, device, factor))) == expected


@pytest.mark.parametrize(("factor", "count"), itertools.product(range(1, 6), range(1, 14)))
def test_every_device_block_has_the_next_slot_and_the_last_host_block_is_full(
    factor: int, count: int
) -> None:
    device = np.arange(100, 100 + count)[::-1].copy()
    host = np.arange(-(-count // factor)) * 3 + 1
    slots, paired = pair_blocks(host, device, factor).T
    all_slots = [block * factor + offset for block in host for offset in range(factor)]
    assert paired.tolist() == device.tolist()
    assert slots.tolist() == all_slots[len(all_slots) - count :]


@pytest.mark.parametrize(
    ("host", "device", "factor"),
    [(ids(0), ids(1, 2), 1), (ids(0, 1), ids(1), 1), (ids(0), ids(1, 2, 3), 2), (ids(0, 1), ids(1, 2), 2)],
)
def test_counts_that_do_not_match_are_refused(host: np.ndarray, device: np.ndarray, factor: int) -> None:
    with pytest.raises(
        ValueError, match=f"{host.size} host blocks of {factor} each: expected {-(-device.size // factor)}"
    ):
        pair_blocks(host, device, factor)


def test_the_last_block_is_in_range_and_the_one_after_it_is_not() -> None:
    check_range(ids(0, 7), 8, "host")
    for outside in (8, -1):
        with pytest.raises(IndexError, match=rf"KV block {outside} on the host: expected 0 to 7"):
            check_range(ids(0, outside), 8, "host")
