"""Stored npu-smi output: files and folders, each file told by its content."""

import re
from collections.abc import Sequence
from pathlib import Path

from npu_assay.device.answers import Answer, Answers
from npu_assay.device.npu_smi.recognise import parse_npu_smi
from npu_assay.errors import UsageError
from npu_assay.whole import read_whole

#: How a live query names the file of a chip's answer, which does not name the chip: npu-smi-health-0-0.txt.
_OF_CHIP = re.compile(r"npu-smi-[a-z-]+-(\d{1,9})(?:-(\d{1,9}))?\.txt")
#: Bytes of one answer; those of a host with sixteen dies have some 20 KB.
_LARGEST = 1 << 22


def raw_name(what: str, npu_id: int | None = None, chip_id: int | None = None) -> str:
    """The file's name for an answer of a live query; `npu-smi-info.txt` has no chip."""
    ids = "".join(f"-{one}" for one in (npu_id, chip_id) if one is not None)
    return f"npu-smi-{what}{ids}.txt"


def read_answers(paths: Sequence[Path]) -> Answers:
    """Read stored output of one host; a folder stands for its .txt files.

    Raises UsageError for what can't be read, a NpuSmiError where npu-smi itself had failed.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.txt")) if path.is_dir() else [path])]
    if not files:
        where = ", ".join(map(str, paths))
        raise UsageError(f"{where}: no .txt file in it; give files, or folders of .txt files")
    return Answers.of_one_host(map(_answer, files))


def _answer(file: Path) -> Answer:
    data = read_whole(file, str(file), _LARGEST)
    output = parse_npu_smi(data, str(file))
    named = _OF_CHIP.fullmatch(file.name)
    npu_id, chip_id = named.groups() if named else (None, None)
    return Answer(
        str(file),
        output,
        None if npu_id is None else int(npu_id),
        None if chip_id is None else int(chip_id),
        ends_within_line=not data.endswith((b"\n", b"\r")),
    )
