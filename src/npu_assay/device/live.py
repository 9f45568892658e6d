"""This host's dies, asked now."""

from collections.abc import Mapping
from pathlib import Path

from npu_assay.device.container import in_container
from npu_assay.device.host import Host, join
from npu_assay.device.nodes import read_nodes
from npu_assay.device.overrides import Overrides
from npu_assay.device.query import Health, NpuSmi


def live_host(variables: Mapping[str, str], dev: Path = Path("/dev")) -> Host:
    """Ask npu-smi of these variables all that a free die is known by.

    Where SKIP_NPU_HEALTH_CHECK=1, the health that its table shows has to do. Raises UnusableError when it
    can't be used.
    """
    nodes = () if in_container() else read_nodes(dev).dies
    health: Health = "none" if Overrides.of(variables).skip else "all"
    return join(NpuSmi(variables).answers(health=health, nodes=nodes))
