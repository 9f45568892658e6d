"""Which ops package an NPU wants, by what npu-smi calls it."""

import pytest

from npu_assay.device.die import Die
from npu_assay.device.ops_chip import ops_chip


@pytest.mark.parametrize(
    ("names", "chip"),
    [
        (["910B3", "910B3"], "910b"),
        (["910B4-1"], "910b"),
        (["310P3"], "310p"),
        (["Ascend950PR"], "950"),
        (["Ascend910_9382"], "A3"),
        (["910B"], None),
        (["910A"], None),
        (["910B3", "310P3"], None),
        ([None], None),
        ([], None),
    ],
)
def test_the_name_of_a_die_tells(names: list[str | None], chip: str | None) -> None:
    assert ops_chip([Die(npu_id=card, chip_id=0, name=name) for card, name in enumerate(names)]) == chip


def test_an_a3_is_told_from_a_first_910_by_its_two_dies() -> None:
    dies = [Die(npu_id=card, chip_id=chip, name="Ascend910") for card in (0, 1) for chip in (0, 1)]
    assert ops_chip(dies) == "A3"
    assert ops_chip(dies[::2]) is None
