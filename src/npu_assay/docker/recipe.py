"""How to start a container, as data: every option that it needs, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A device node of the host, given under its own name."""

    path: str
    why: str


@dataclass(frozen=True)
class Mount:
    """A file or folder that the container sees at `target`."""

    source: str | None
    """Of the host; None for a volume that begins as the image's folder and ends with the container."""
    target: str
    read_only: bool
    why: str


@dataclass(frozen=True)
class Setting:
    """A variable, or the value of an option."""

    name: str
    value: str
    why: str


@dataclass(frozen=True)
class ContainerRecipe:
    """A container of an image: what it is given of the host, and what it runs."""

    image: str
    arguments: tuple[str, ...]
    nodes: tuple[Node, ...]
    mounts: tuple[Mount, ...]
    variables: tuple[Setting, ...]
    user: Setting
    """uid:gid."""
    groups: tuple[Setting, ...]
    """Ids of further groups of that user."""
    shm_size: Setting
    network: Setting
    tmpfs: Setting
    """A folder with mount options; all else but mounts is read-only."""
    workdir: Setting
    folders: tuple[str, ...]
    """Folders of the host that have to be there before: docker would make them, for root alone."""
    missing: tuple[str, ...]
    """What the host does not have of all this, a line each."""
    notes: tuple[str, ...]
