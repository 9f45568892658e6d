"""The good archives: planted ones, and all that are published under logs/."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from offload_archive import OffloadArchive, recorded_checkout, to_hardware

from mutations.forged import SUMS, copy_cheaply
from mutations.mutation import EMULATED, HARDWARE
from npu_assay.claims.case import Mode
from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.evidence.archive import UNSEALED
from npu_assay.project import ROOT
from npu_assay.report.derived import derive


@dataclass(frozen=True)
class Good:
    """An archive that verifies."""

    name: str
    kind: str
    make: Callable[[Path], Path]
    """Puts it at that path, which is not there yet, or says where it is already."""

    @property
    def checkout(self) -> Checkout:
        """By whose data it is judged."""
        return OWN if self.kind == EMULATED else recorded_checkout()

    @property
    def mode(self) -> Mode:
        """The strictest in which it passes."""
        return Mode.EMULATED if self.kind == EMULATED else Mode.FORMAL


def _planted(root: Path) -> Path:
    OffloadArchive(root).seal()
    derive(root)
    return root


def _planted_hardware(root: Path) -> Path:
    offload = OffloadArchive(root)
    to_hardware(offload)
    offload.put_in_image()
    offload.seal()
    derive(root, recorded_checkout())
    return root


def _copied(folder: Path, root: Path) -> Path:
    """With a statement by this npu-assay: that of another one is inconclusive."""
    copy_cheaply(folder, root)
    for name in UNSEALED - {SUMS}:
        (root / name).unlink(missing_ok=True)
    derive(root)
    return root


def _published() -> list[Good]:
    found = []
    for manifest in sorted((ROOT / "logs").glob("*/manifest.json")):
        kind = json.loads(manifest.read_bytes())["device"]["kind"]
        found.append(Good(manifest.parent.name, kind, partial(_copied, manifest.parent)))
    return found


GOOD = (
    Good("planted", EMULATED, _planted),
    Good("planted hardware", HARDWARE, _planted_hardware),
    *_published(),
)
