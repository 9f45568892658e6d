"""Logical to physical: which /dev/davinciN a process gets for its device i, and where that can't be true.

From `info -m` (and phyid-remap where there), held against the nodes in /dev and the two visibility variables.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from npu_assay.device.die import Die, counted
from npu_assay.device.host import Host
from npu_assay.device.nodes import DeviceNodes
from npu_assay.device.visible import RT_VISIBLE_DEVICES, VISIBLE_DEVICES, container_visible, rt_visible
from npu_assay.errors import UsageError


class MappedDie(Die):
    """A die with its place in /dev and in a process."""

    node: str | None = Field(description="davinciN; null where it is not there, or can't be told")
    node_by: Literal["physical id", "order"] | None = Field(
        description="order: npu-smi shows no physical ids, and there are as many nodes as dies"
    )
    index: int | None = Field(description="what a process calls it; null where it does not see it")


@dataclass(frozen=True)
class DeviceMap:
    """The dies in the order of npu-smi, and every contradiction."""

    dies: tuple[MappedDie, ...]
    nodes: DeviceNodes | None
    problems: tuple[str, ...]


def map_devices(host: Host, nodes: DeviceNodes | None, variables: Mapping[str, str]) -> DeviceMap:
    """Put npu-smi's ids, the nodes and the variables together.

    `nodes` is None for stored output of another host, and for an emulated one, which has no nodes.
    """
    problems = list(host.problems)
    numbers, by = _node_numbers(host, nodes)
    if nodes is not None:
        problems += _node_problems(host, nodes, numbers, by)
        problems += _container_problems(nodes, variables.get(VISIBLE_DEVICES))
    indices, index_problem = _indices(host, variables.get(RT_VISIBLE_DEVICES))
    if index_problem:
        problems.append(index_problem)
    dies = tuple(
        MappedDie(
            **{name: getattr(die, name) for name in Die.model_fields},
            node=None if number is None else f"davinci{number}",
            node_by=None if number is None else by,
            index=None if die.visible_id is None else indices.get(die.visible_id),
        )
        for die, number in zip(host.dies, numbers, strict=True)
    )
    return DeviceMap(dies, nodes, tuple(problems))


def is_950(host: Host) -> bool:
    """Whether the dies are of the 950, which lacks one of the nodes."""
    return any(die.is_950 for die in host.dies)


def _node_numbers(
    host: Host, nodes: DeviceNodes | None
) -> tuple[list[int | None], Literal["physical id", "order"]]:
    """The node of each die that is there."""
    there = () if nodes is None else nodes.dies
    if any(die.physical_id is not None for die in host.dies):
        return [die.physical_id if die.physical_id in there else None for die in host.dies], "physical id"
    logical = [die.logical_id for die in host.dies]
    if len(there) != len(host.dies) or None in logical:
        return [None for _ in host.dies], "order"
    ascending = sorted(one for one in logical if one is not None)
    return [there[ascending.index(one)] for one in logical if one is not None], "order"


def _node_problems(
    host: Host, nodes: DeviceNodes, numbers: list[int | None], by: Literal["physical id", "order"]
) -> list[str]:
    problems = []
    if by == "physical id":
        for die in host.dies:
            number = die.physical_id
            if number is not None and number not in nodes.dies:
                problems.append(f"{die.place}: physical id {number}, but no {nodes.folder}/davinci{number}")
        unknown = [number for number in nodes.dies if number not in numbers]
        problems += [f"{nodes.folder}/davinci{number}: of no die that npu-smi shows" for number in unknown]
    elif len(nodes.dies) != len(host.dies):
        names = ", ".join(f"davinci{number}" for number in nodes.dies) or "no davinci node"
        problems.append(f"npu-smi shows {counted(host.dies)}, {nodes.folder} has {names}")
    problems += [f"{nodes.folder}/{name}: not there" for name in nodes.missing_managers(is_950=is_950(host))]
    problems += [f"{nodes.folder}/{name}: not open to this user" for name in nodes.closed]
    return problems


def _container_problems(nodes: DeviceNodes, value: str | None) -> list[str]:
    """ASCEND_VISIBLE_DEVICES is a wish to the container runtime; the nodes show whether it was heard."""
    if value is None:
        return []
    try:
        named = container_visible(value)
    except UsageError as error:
        return [str(error)]
    said = f"{VISIBLE_DEVICES}={value!r}"
    more = [f"davinci{number}" for number in nodes.dies if number not in named]
    fewer = [f"davinci{number}" for number in sorted(named) if number not in nodes.dies]
    problems = []
    if more:
        problems.append(
            f"{said} was not honoured: {nodes.folder} has {', '.join(more)} too "
            f"(only Ascend Docker Runtime reads it)"
        )
    if fewer:
        problems.append(f"{said}: {nodes.folder} has no {', '.join(fewer)}")
    return problems


def _indices(host: Host, value: str | None) -> tuple[dict[int, int], str | None]:
    """Logical id -> the index by which a process calls the die."""
    logical = sorted(die.visible_id for die in host.dies if die.visible_id is not None)
    if value is None:
        return {one: index for index, one in enumerate(logical)}, None
    visible = rt_visible(value, logical)
    return {one: index for index, one in enumerate(visible.ids)}, visible.problem
