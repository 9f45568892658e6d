"""Which of CANN's ops packages an NPU wants: the vendor's packages have the chip in their names."""

import re
from collections.abc import Iterable

from npu_assay.device.die import Die

_A2 = re.compile(r"910B[1-4]")


def ops_chip(dies: Iterable[Die]) -> str | None:
    """910b, A3, 310p or 950, the vendor's spelling; None where the names of the dies do not tell.

    An A3 calls both dies of a card Ascend910 (in public outputs of npu-smi); a first 910 has one die a card
    and is called 910A, 910ProB and the like.
    """
    found = {_of(die) for die in dies}
    if "A3?" in found:
        found = {"A3"} if len({die.chip_id for die in dies}) > 1 else {None}
    return found.pop() if len(found) == 1 else None


def _of(die: Die) -> str | None:
    name = (die.name or "").strip().removeprefix("Ascend").strip()
    if _A2.match(name):
        return "910b"
    if name.startswith("310P"):
        return "310p"
    if die.is_950:
        return "950"
    return "A3?" if name == "910" else "A3" if name.startswith(("910_93", "910C")) else None
