"""Lines of `key : value`, as npu-smi's `-l` and `-t` print them, and to which NPUs and chips they belong.

`Chip ID` is printed before its chip's lines (310B), after them (A2, A3), or not at all (with `-c`); `NPU ID`
stands before. So a text's first lines say which it is, and a mixture is an error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.values import integer, text_or_none

NPU_ID, CHIP_ID, CHIP_COUNT = "NPU ID", "Chip ID", "Chip Count"
T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """One line of a text."""

    key: str
    value: str


@dataclass(frozen=True)
class Block:
    """The lines that belong to one NPU or one chip, each key once."""

    npu_id: int | None
    """None where the text does not say it: the caller asked for one NPU."""
    chip_id: int | None
    values: dict[str, str]
    source: str

    def get(self, key: str, read: Callable[[str], T]) -> T:
        """A value that has to be there. Raises UnknownLayoutError when it is not, or is not of that form."""
        if key not in self.values:
            raise UnknownLayoutError(self.source, ", ".join(self.values) or "nothing", f"the key {key}")
        return self._read(key, read)

    def find(self, key: str, read: Callable[[str], T]) -> T | None:
        """A value that a layout may leave out."""
        return self._read(key, read) if key in self.values else None

    def text(self, key: str) -> str | None:
        """A text that a layout may leave out, or write NA for."""
        return self.find(key, text_or_none)

    def _read(self, key: str, read: Callable[[str], T]) -> T:
        try:
            return read(self.values[key])
        except ValueError as error:
            raise UnknownLayoutError(
                self.source, f"{key} : {self.values[key]}", f"another value ({error})"
            ) from error


def keys_in(text: str) -> set[str]:
    """All keys of a text, known or not; to tell outputs apart."""
    return {line.partition(":")[0].strip() for line in text.splitlines() if ":" in line}


def lines_of(text: str, source: str) -> list[Line]:
    """All lines. Raises UnknownLayoutError for one that is no `key : value`."""
    lines = []
    for line in text.splitlines():
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon or not key.strip():
            raise UnknownLayoutError(source, line, "key : value")
        lines.append(Line(" ".join(key.split()), value.strip()))
    return lines


def blocks_of(text: str, source: str) -> list[Block]:
    """One block a chip, or one an NPU where no chip is named.

    Raises UnknownLayoutError when a key comes twice in a block, when lines belong to no chip although others
    do, and when there are fewer or more chips than `Chip Count` announces.
    """
    return [block for npu in _by_npu(lines_of(text, source)) for block in _by_chip(npu, source)]


def values_of(lines: list[Line], source: str) -> dict[str, str]:
    """Lines by key. Raises UnknownLayoutError for a key that comes twice."""
    values: dict[str, str] = {}
    for line in lines:
        if line.key in values:
            raise UnknownLayoutError(source, f"{line.key} : {line.value}", f"{line.key} once")
        values[line.key] = line.value
    return values


def _by_npu(lines: list[Line]) -> Iterator[list[Line]]:
    """Split at NPU ID where that comes first; otherwise all is of the one NPU that was asked for."""
    if not lines or lines[0].key != NPU_ID:
        yield lines
        return
    starts = [at for at, line in enumerate(lines) if line.key == NPU_ID]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start:end]


def _by_chip(lines: list[Line], source: str) -> list[Block]:
    """The chips of one NPU."""
    head: list[Line] = []
    while lines and lines[0].key in (NPU_ID, CHIP_COUNT):
        head.append(lines[0])
        lines = lines[1:]
    common = Block(None, None, values_of(head, source), source)
    npu_id = common.find(NPU_ID, integer)
    marks = [at for at, line in enumerate(lines) if line.key == CHIP_ID]
    if not marks:
        blocks = [Block(npu_id, None, values_of([*head, *lines], source), source)]
    else:
        first = marks[0] == 0
        if not first and marks[-1] != len(lines) - 1:
            raise UnknownLayoutError(
                source, lines[-1].key, "a Chip ID after these lines; the output was cut short"
            )
        bounds = [*marks, len(lines)] if first else [0, *(mark + 1 for mark in marks)]
        parts = [lines[start:end] for start, end in pairwise(bounds)]
        blocks = [_chip_block(npu_id, part, source) for part in parts]
    announced = common.find(CHIP_COUNT, integer)
    if marks and announced is not None and announced != len(blocks):
        raise UnknownLayoutError(source, f"{len(blocks)} chips", f"{announced}, as Chip Count says")
    _check_each_once(blocks, source)
    return blocks


def _chip_block(npu_id: int | None, lines: list[Line], source: str) -> Block:
    values = values_of(lines, source)
    block = Block(npu_id, None, values, source)
    chip_id = block.get(CHIP_ID, integer)
    return Block(npu_id, chip_id, {key: value for key, value in values.items() if key != CHIP_ID}, source)


def _check_each_once(blocks: list[Block], source: str) -> None:
    seen: set[int | None] = set()
    for block in blocks:
        if block.chip_id in seen:
            raise UnknownLayoutError(source, f"{CHIP_ID} : {block.chip_id}", "each chip once")
        seen.add(block.chip_id)
