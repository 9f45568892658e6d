"""What a host has of all that a container needs: nodes with their groups, the driver's files, tools."""

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.files.host_info import parse_host_info
from npu_assay.cann.paths import is_there
from npu_assay.device.needs import DEV, NEEDS, die_node
from npu_assay.device.nodes import read_nodes
from npu_assay.whole import read_whole

_INSTALLED = "/usr/local/Ascend"
_HOST_INFO = "/etc/ascend_install.info"
_LARGEST = 1 << 16


@dataclass(frozen=True)
class HostFiles:
    """Paths as the host itself names them, whatever folder it was looked at in."""

    driver: str
    """The driver's folder."""
    there: frozenset[str]
    """Which paths of NEEDS are there."""
    dies: tuple[int, ...]
    """The N of every /dev/davinciN, ascending."""
    groups: tuple[int, ...]
    """Group ids of nodes that not everybody may open, ascending."""


def read_host_files(root: Path = Path("/")) -> HostFiles:
    """Look at a host. Raises MalformedFileError for an ascend_install.info that is none."""
    driver = _driver_folder(root)
    paths = {path for need in NEEDS for path in need.paths(driver)}
    there = frozenset(path for path in paths if is_there(_below(root, path)))
    dies = read_nodes(_below(root, DEV)).dies
    nodes = [die_node(number) for number in dies]
    nodes += [path for need in NEEDS if need.kind == "device" for path in need.paths(driver) if path in there]
    return HostFiles(driver, there, dies, _groups(_below(root, path) for path in nodes))


def _below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _driver_folder(root: Path) -> str:
    """Where the driver's installer says that it put it, else the usual place."""
    recorded = _below(root, _HOST_INFO)
    if is_there(recorded):
        text = read_whole(recorded, str(recorded), _LARGEST).decode(errors="replace")
        if folder := parse_host_info(text, str(recorded)).driver_path:
            return f"{folder.rstrip('/')}/driver"
    return f"{_INSTALLED}/driver"


def _groups(nodes: Iterable[Path]) -> tuple[int, ...]:
    """Who is not of these groups can't open the nodes. Of a folder of nodes, the folder's own counts."""
    found = set()
    for node in nodes:
        try:
            status = node.stat()
        except OSError:
            continue
        if not status.st_mode & stat.S_IWOTH:
            found.add(status.st_gid)
    return tuple(sorted(found))
