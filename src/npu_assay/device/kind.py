"""Which kind of device a run uses."""

from pathlib import Path
from typing import Literal

from npu_assay.device.nodes import read_nodes
from npu_assay.errors import UnusableError

Wanted = Literal["auto", "npu", "emulated"]


def choose_kind(wanted: Wanted, dev: Path = Path("/dev")) -> tuple[Literal["emulated"], str]:
    """The kind to use and, in one line, why.

    Hardware needs a provider of CANN for the host, which this release does not have: UnusableError, so that
    nobody takes an emulated run for one on the NPU that he has.
    """
    nodes = read_nodes(dev).dies
    if wanted == "emulated":
        return "emulated", "emulated, as asked for"
    if wanted == "npu" and not nodes:
        raise UnusableError(f"--device npu: there is no {dev}/davinci*, so no NPU; use --device emulated")
    if nodes:
        raise UnusableError(
            f"--device {wanted}: {dev}/davinci{nodes[0]} needs a host provider of CANN, not in this release; "
            f"use --device emulated"
        )
    return "emulated", f"emulated, as there is no {dev}/davinci*"
