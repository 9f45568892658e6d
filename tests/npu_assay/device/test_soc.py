"""The SoC of the dies, from what npu-smi says of boards."""

import os
from pathlib import Path

import pytest
from npu_smi_texts import BOARD_CONTROLLER, MAPPING_950, fields

from npu_assay.device.npu_smi.board import parse_boards
from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.query import NpuSmi
from npu_assay.device.soc import FoundSoc, find_socs, only_soc, soc_name
from npu_assay.errors import UnusableError, UsageError


def board(*pairs: tuple[str, object]) -> str:
    return fields(("NPU ID", 0), *pairs, ("Board ID", "0x45"))


A2 = board(("Chip ID", 0), ("Chip Type", "Ascend"), ("Chip Name", "910B3"))
A3 = board(("NPU Name", 9392), ("Chip ID", 0), ("Chip Name", "Ascend910"))
C310P = board(("Chip ID", 0), ("Chip Type", "Ascend"), ("Chip Name", "310P3"))
C950 = board(("NPU Name", 9579), ("Chip Name", "Ascend950PR"), ("Chip Count", 1))
#: The 32 GB card whose soc_version is 104 (vllm-ascend#6796).
A_910B = board(("Chip ID", 0), ("Chip Type", "Ascend"), ("Chip Name", "910B"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (A2, "ascend910b3"),
        (A3, "ascend910_9392"),
        (C310P, "ascend310p3"),
        (C950, "ascend950pr_9579"),
        (A_910B, "ascend910b"),
    ],
)
def test_the_name_is_made_by_the_rules_of_each_generation(text: str, name: str) -> None:
    (one,) = parse_boards(text, "board").boards
    assert soc_name(one, "board") == name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (board(("Chip Name", "910B3")), "Chip Name : 910B3"),
        (board(("Chip Type", "Ascend"), ("Chip Name", "NA")), "Chip Type : Ascend"),
        (A2 + "NPU Name : 9392\n", "Chip Type : Ascend, Chip Name : 910B3, NPU Name : 9392"),
        (board(("Product Name", "x")), "none of them"),
    ],
)
def test_a_board_that_does_not_say_is_not_guessed_at(text: str, found: str) -> None:
    assert soc_name(parse_boards(A2, "board").boards[0], "board")
    with pytest.raises(UnknownLayoutError, match=found):
        soc_name(parse_boards(text, "board").boards[0], "board")


@pytest.fixture
def npu_smi(smi: Path) -> NpuSmi:
    """A live npu-smi of two 910B3."""
    for npu in (0, 3):
        (smi / f"info_-t_board_-i_{npu}_-c_0").write_text(A2)
    return NpuSmi(os.environ)


def test_every_chip_is_asked(smi: Path, npu_smi: NpuSmi) -> None:
    assert find_socs(npu_smi) == (FoundSoc(0, 0, "ascend910b3"), FoundSoc(3, 0, "ascend910b3"))
    (smi / "info_-t_board_-i_3_-c_0").write_text(A_910B)
    assert [one.soc for one in find_socs(npu_smi)] == ["ascend910b3", "ascend910b"]


def test_the_950_is_asked_for_its_card(smi: Path, npu_smi: NpuSmi) -> None:
    (smi / "info_-m").write_text(MAPPING_950)
    with pytest.raises(UnusableError):
        find_socs(npu_smi)
    for npu in range(8):
        (smi / f"info_-t_board_-i_{npu}").write_text(C950)
    assert {one.soc for one in find_socs(npu_smi)} == {"ascend950pr_9579"}


def test_an_answer_about_something_else_is_told(smi: Path, npu_smi: NpuSmi) -> None:
    assert find_socs(npu_smi)
    (smi / "info_-t_board_-i_3_-c_0").write_text(BOARD_CONTROLLER)
    with pytest.raises(UnusableError, match="-i 3 -c 0: expected a chip's board"):
        find_socs(npu_smi)
    (smi / "info_-t_board_-i_3_-c_0").write_text("nonsense\n")
    with pytest.raises((UnusableError, UsageError), match="-i 3 -c 0"):
        find_socs(npu_smi)


def test_dies_that_differ_can_not_be_built_for() -> None:
    one, same, other = (
        FoundSoc(0, 0, "ascend910b3"),
        FoundSoc(3, 0, "ascend910b3"),
        FoundSoc(4, 1, "ascend910b"),
    )
    assert only_soc([]) is None
    assert only_soc([one, same]) == "ascend910b3"
    with pytest.raises(UnusableError, match=r"ascend910b3 \(NPU 0 chip 0\), ascend910b \(NPU 4 chip 1\)"):
        only_soc([one, same, other])
