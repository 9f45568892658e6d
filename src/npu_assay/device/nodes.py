"""The driver's device nodes: /dev/davinciN, one a die, and the managers beside them.

N is the physical id ("run ls /dev/davinci*; /dev/davinci0 means that the chip's physical id is 0", npu-smi's
reference for the Atlas 200I A2, "phyid-remap").
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.device.needs import CHIP_950, NEEDS

_MANAGERS = tuple(need for need in NEEDS if need.kind == "device" and need.required)
#: Those of any chip. 950 hosts lack one: `docker run --device /dev/devmm_svm` aborts there
#: (vllm-project/recipes#907).
MANAGERS = tuple(need.names[0] for need in _MANAGERS)
_DIE = re.compile(r"davinci([0-9]{1,9})")


def may_open(path: Path) -> bool:
    """Whether this process may open a node as the driver's libraries do, for reading and writing."""
    return os.access(path, os.R_OK | os.W_OK)


@dataclass(frozen=True)
class DeviceNodes:
    """What is in a dev folder."""

    folder: Path
    dies: tuple[int, ...]
    """The N of every davinciN, ascending."""
    managers: tuple[str, ...]
    """Those of MANAGERS that are there."""
    closed: tuple[str, ...]
    """Names of nodes that are there and that this user may not open."""

    def missing_managers(self, *, is_950: bool) -> tuple[str, ...]:
        """The managers that should be there and are not."""
        return tuple(name for name in managers(is_950=is_950) if name not in self.managers)


def managers(*, is_950: bool) -> tuple[str, ...]:
    """The managers that a host has beside its dies."""
    chip = CHIP_950 if is_950 else None
    return tuple(need.names[0] for need in _MANAGERS if need.applies(chip, 1))


def read_nodes(folder: Path = Path("/dev"), may_open: Callable[[Path], bool] = may_open) -> DeviceNodes:
    """Look at a dev folder. One that can't be listed has no nodes."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        names = []
    dies = sorted(int(found[1]) for name in names if (found := _DIE.fullmatch(name)))
    there = tuple(name for name in MANAGERS if name in names)
    present = [*(f"davinci{number}" for number in dies), *there]
    return DeviceNodes(
        folder,
        tuple(dies),
        there,
        tuple(name for name in present if not may_open(folder / name)),
    )


def docker_flags(dies: list[int] | tuple[int, ...], *, is_950: bool = False) -> str:
    """The --device flags that give a container these dies, and the mounts that npu-smi needs.

    For a message: `npu-assay docker run` has the whole command.
    """
    names = [*(f"davinci{number}" for number in dies or (0,)), *managers(is_950=is_950)]
    flags = " ".join(f"--device /dev/{name}" for name in names)
    return f"{flags} -v /usr/local/Ascend/driver:/usr/local/Ascend/driver:ro"
