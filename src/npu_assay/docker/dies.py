"""The dies that a container is to get: chosen on the host, by the node that the container sees them by."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_assay.device.choice import why_not
from npu_assay.device.device_map import MappedDie, map_devices
from npu_assay.device.host import Host
from npu_assay.device.needs import CHIP_950, DEV
from npu_assay.device.nodes import DeviceNodes
from npu_assay.device.ops_chip import ops_chip
from npu_assay.device.overrides import dies_seen
from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class ChosenDies:
    """The dies of a container, in the order of their nodes."""

    chip: str | None
    """As `ops_chip` calls it; None where their names do not tell."""
    nodes: tuple[int, ...]
    """The N of /dev/davinciN, ascending: the container numbers its dies from 0 in this order."""

    @property
    def visible_devices(self) -> str | None:
        """ASCEND_RT_VISIBLE_DEVICES inside; None for a 950, whose ids in a container no document says."""
        if self.chip == CHIP_950:
            return None
        return ",".join(str(index) for index in range(len(self.nodes)))


def choose_dies(
    host: Host, dies: tuple[int, ...], count: int | None, variables: Mapping[str, str]
) -> ChosenDies:
    """The first `count` free dies that these variables let a process see; None: all that are free.

    `dies` is the N of every /dev/davinciN of the host. Nothing is locked. Raises UnusableError that says of
    every die why it was not taken; one whose node can't be told is none to give.
    """
    if host.cut:
        raise UnusableError(f"no die can be called free: {host.cut[0]}")
    nodes = DeviceNodes(Path(DEV), dies, (), ())
    node_of = {die.key: die for die in map_devices(host, nodes, variables).dies}
    chosen: list[int] = []
    reasons: list[str] = []
    for die in dies_seen(host, variables):
        if len(chosen) == count:
            break
        mapped = node_of[die.key]
        if reason := why_not(die) or _without_node(mapped):
            reasons.append(reason)
        else:
            assert mapped.node is not None
            chosen.append(int(mapped.node.removeprefix("davinci")))
    if not chosen or (count is not None and len(chosen) < count):
        wanted = "a free die" if count is None else f"{count} free dies"
        why = "; ".join(reasons) or "there are no more, or ASCEND_RT_VISIBLE_DEVICES hides them"
        raise UnusableError(f"{wanted} wanted for the container, {len(chosen)} found: {why}")
    return ChosenDies(ops_chip(host.dies), tuple(sorted(chosen)))


def _without_node(die: MappedDie) -> str | None:
    if die.node is not None:
        return None
    number = "N" if die.physical_id is None else die.physical_id
    return f"{die.place}: which {DEV}/davinci{number} it is can't be told; see npu-assay device map"
