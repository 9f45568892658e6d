"""Which kind of device a run uses."""

from pathlib import Path
from typing import Literal

from npu_assay.device.nodes import read_nodes
from npu_assay.errors import UnusableError

Wanted = Literal["auto", "npu", "emulated"]
Kind = Literal["emulated", "hardware"]


def choose_kind(wanted: Wanted, dev: Path = Path("/dev")) -> tuple[Kind, str]:
    """The kind to use and, in one line, why.

    The driver's nodes decide, not whether its CANN can be used: nobody is to take an emulated run for one on
    the NPU that he has. Raises UnusableError for an NPU that is wanted and not there.
    """
    nodes = read_nodes(dev).dies
    if wanted == "emulated":
        return "emulated", "emulated, as asked for"
    if nodes:
        return "hardware", f"hardware, as there is {dev}/davinci{nodes[0]}"
    if wanted == "npu":
        raise UnusableError(
            f"--device npu: there is no {dev}/davinci*, so no NPU; use --device emulated,"
            f" or see what is missing: npu-assay doctor --device npu"
        )
    return "emulated", f"emulated, as there is no {dev}/davinci*"
