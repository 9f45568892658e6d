"""Which SoC the dies are, by the name that CANN's compiler and vllm-ascend's SOC_VERSION know it by.

npu-smi has no such name; it is put together from `npu-smi info -t board`, for which two rules are known
(vllm-ascend's setup.py, and the same in the documentation of Ascend's example repositories):

- A2 and 310P: chip type and chip name, so Ascend and 910B3 are ascend910b3.
- A3 and 950: chip name and NPU name, so Ascend910 and 9392 are ascend910_9392.

The 950 says all of it of the card (`-i`), the others of the chip (`-i -c`). A3's and the 950's own output was
never seen by us but in such documents.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from npu_assay.device.npu_smi.board import Board, Boards
from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.mapping import ChipMapping, MappedChip
from npu_assay.device.query import MAPPING, NpuSmi, Question
from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class FoundSoc:
    """The SoC of one die."""

    npu_id: int
    chip_id: int | None
    soc: str

    def __str__(self) -> str:
        chip = "" if self.chip_id is None else f" chip {self.chip_id}"
        return f"{self.soc} (NPU {self.npu_id}{chip})"


def soc_name(board: Board, source: str) -> str:
    """The name, in lower case, such as ascend910b3. Raises UnknownLayoutError where a board does not say."""
    chip, kind, npu = board.chip_name, board.chip_type, board.npu_name
    if chip and kind and not npu:
        return f"{kind}{chip}".lower()
    if chip and npu and not kind:
        return f"{chip}_{npu}".lower()
    said = ", ".join(
        f"{key} : {value}"
        for key, value in (("Chip Type", kind), ("Chip Name", chip), ("NPU Name", npu))
        if value
    )
    raise UnknownLayoutError(source, said or "none of them", "Chip Name with either Chip Type or NPU Name")


def board_of(chip: MappedChip) -> Question:
    """The question that says a chip's SoC; the 950, which has no logical ids, does not take -c."""
    words: tuple[str, ...] = ("info", "-t", "board", "-i", str(chip.npu_id))
    if chip.logical_id is not None:
        words += ("-c", str(chip.chip_id))
    return Question("board", words, chip.npu_id, chip.chip_id)


def find_socs(npu_smi: NpuSmi) -> tuple[FoundSoc, ...]:
    """Ask every chip that can be used. Raises UnusableError or UsageError where one does not tell."""
    mapping = npu_smi.ask(MAPPING).output
    if not isinstance(mapping, ChipMapping):
        raise UnusableError(f"{MAPPING}: expected the chips, found {type(mapping).__name__}")
    return tuple(_ask(npu_smi, chip) for chip in mapping.chips if chip.usable)


def _ask(npu_smi: NpuSmi, chip: MappedChip) -> FoundSoc:
    question = board_of(chip)
    output = npu_smi.ask(question).output
    boards = output.boards if isinstance(output, Boards) else ()
    board = next((one for one in boards if not one.is_controller), None)
    if board is None:
        raise UnusableError(f"{question}: expected a chip's board, found {type(output).__name__}")
    return FoundSoc(chip.npu_id, chip.chip_id, soc_name(board, str(question)))


def only_soc(found: Iterable[FoundSoc]) -> str | None:
    """The one SoC that all dies are; None where there is no die.

    Raises UnusableError where they differ: one build can't serve both.
    """
    first: dict[str, FoundSoc] = {}
    for one in found:
        first.setdefault(one.soc, one)
    if len(first) > 1:
        raise UnusableError(
            f"the dies of this host differ: {', '.join(map(str, first.values()))}; one build is for one of"
            " them: show the container or the shell only dies of one kind"
        )
    return next(iter(first), None)
