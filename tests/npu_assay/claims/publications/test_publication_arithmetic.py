"""The arithmetic of published figures, on numbers worked out by hand or said by upstream."""

from decimal import Decimal as D

import pytest

from npu_assay.claims.publications.arithmetic import (
    change_percent,
    decoder_layer_weights,
    half_unit,
    median,
    requests_per_second,
    selected_layers,
    share_percent,
)
from npu_assay.claims.publications.units import Unit, alike, convert


@pytest.mark.parametrize(
    ("value", "half"), [("8.61", "0.005"), ("8.60", "0.005"), ("0.0000", "0.00005"), ("86", "0.5")]
)
def test_half_a_unit_of_the_last_digit(value: str, half: str) -> None:
    assert half_unit(D(value)) == D(half)


@pytest.mark.parametrize(
    ("layers", "group_size", "num_in_group", "selected"),
    [
        (28, 0, 1, ()),
        (28, 8, 1, (7, 15, 23)),
        (28, 8, 2, (6, 7, 14, 15, 22, 23)),
        (4, 2, 2, (0, 1, 2, 3)),
        (7, 8, 1, ()),  # the only group ends before its last layer
        (7, 8, 2, (6,)),
        (3, 1, 1, (0, 1, 2)),
    ],
)
def test_the_last_layers_of_each_group_are_selected(
    layers: int, group_size: int, num_in_group: int, selected: tuple[int, ...]
) -> None:
    assert selected_layers(layers, group_size, num_in_group) == selected


def test_a_decoder_layer_of_qwen2_5_1_5b() -> None:
    shape = {"hidden": 1536, "intermediate": 8960, "heads": 12, "kv_heads": 2, "head_size": 128}
    assert decoder_layer_weights(**shape) == 46_797_824
    assert decoder_layer_weights(**shape | {"kv_heads": 12}) == 46_797_824 + 2 * 10 * 128 * (1536 + 1)


def test_ratios() -> None:
    assert change_percent(D(3), D(4)) == -25
    assert change_percent(D(5), D(4)) == 25
    assert share_percent(D(3), D(4)) == 75
    assert median([D(3), D(1), D(2)]) == 2
    assert median([D(4), D(1), D(2), D(3)]) == D("2.5")
    # 96 under way, each 1 s to its first of 16 tokens and 0.2 s for each of the other 15
    assert requests_per_second(D(96), D(16), D(1), D("0.2")) == 24


@pytest.mark.parametrize(
    ("value", "unit", "to", "converted"),
    [
        ("1", "GiB", "B", "1073741824"),
        ("1", "GB", "B", "1000000000"),
        ("1500", "ms", "s", "1.5"),
        ("2", "%", "%", "2"),
    ],
)
def test_units_of_the_same_thing(value: str, unit: Unit, to: Unit, converted: str) -> None:
    assert convert(D(value), unit, to) == D(converted)


def test_units_of_different_things() -> None:
    assert alike("GB") == ("B", "GiB")
    assert alike("tokens") == alike(None) == ()
    with pytest.raises(ValueError, match="ms can't be given in GiB"):
        convert(D(1), "ms", "GiB")
    with pytest.raises(ValueError, match="a figure without a unit can't be given in s"):
        convert(D(1), None, "s")
