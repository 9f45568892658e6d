"""A npu-smi played by a shell script, which says what files beside it hold."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from npu_smi_texts import HEALTH, card, columns, fields, idle, info

SCRIPT = """#!/bin/sh
name=$(echo "$*" | tr ' ' '_')
cat "$(dirname "$0")/$name" || exit 1
exit $(cat "$(dirname "$0")/exit_code" 2>/dev/null || echo 0)
"""


def plant_npu_smi(folder: Path, answers: Mapping[str, str]) -> Path:
    """Write the script and its answers, files named by its arguments (`info_-m`); returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "npu-smi").write_text(SCRIPT)
    (folder / "npu-smi").chmod(0o755)
    for name, answer in answers.items():
        (folder / name).write_text(answer)
    return folder


def a2_answers(
    npus: Sequence[int], *, busy: Mapping[int, str] | None = None, health: Mapping[int, str] | None = None
) -> dict[str, str]:
    """What npu-smi says of a host with these NPUs, one die each, logical ids in their order.

    `busy` has, for NPUs that somebody uses, their lines of the process table, `health` what is not OK.
    """
    busy, health = busy or {}, health or {}
    processes = "".join(busy.get(npu, idle(npu)) for npu in npus)
    mapping = columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    mapping += "".join(columns(npu, 0, logical, "Ascend 910B3") for logical, npu in enumerate(npus))
    listing = fields(("Total Count", len(npus)))
    listing += "".join("\n" + fields(("NPU ID", npu), ("Chip Count", 1)) for npu in npus)
    cards = (card(npu, health=health.get(npu, "OK")) for npu in npus)
    answers = {"info": info(*cards, processes=processes), "info_-m": mapping, "info_-l": listing}
    said = {npu: HEALTH.replace("OK", health.get(npu, "OK")) for npu in npus}
    return answers | {f"info_-t_health_-i_{npu}_-c_0": text for npu, text in said.items()}
