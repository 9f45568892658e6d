"""From what was read of a host to the recipe of a container."""

from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.device.locks import FOLDER_VARIABLE
from npu_assay.device.needs import die_node, needs_of
from npu_assay.device.visible import RT_VISIBLE_DEVICES
from npu_assay.docker.dies import ChosenDies
from npu_assay.docker.host_files import HostFiles
from npu_assay.docker.places import CACHE, CHIP_VARIABLE, RUNS, SCRATCH, WORK, WRITTEN
from npu_assay.docker.recipe import ContainerRecipe, Mount, Node, Setting
from npu_assay.errors import UsageError
from npu_assay.evidence.image import DIGEST_VARIABLE, REFERENCE_VARIABLE

#: The most that upstream's commands for one host give (1g for A2 and A3, 10g for 310P, 16g for a 950:
#: vllm-ascend's documents, vllm-project/recipes#907), not counting those that give all there is.
SHM_SIZE = "16g"
#: exec, which docker's tmpfs lacks by itself: what compilers make there is loaded.
_TMPFS_OPTIONS = "rw,exec,nosuid,nodev,mode=1777"


@dataclass(frozen=True)
class Wish:
    """What the caller wants of a container; paths are absolute paths of the host."""

    image: str
    arguments: tuple[str, ...]
    runs: str
    cache: str | None
    """None: what is built is gone with the container."""
    model: str | None
    locks: str
    user_id: int
    group_id: int
    shm_size: str = SHM_SIZE
    network: str = "none"
    digest: str | None = None
    """Of the image, as docker writes it; None where docker does not know it."""


@dataclass(frozen=True)
class HostDies:
    """The NPU side of a container: what the host has, and which of its dies are meant."""

    files: HostFiles
    chosen: ChosenDies


def recipe_of(wish: Wish, npus: HostDies | None) -> ContainerRecipe:
    """The container that runs this image; `npus` is None for one that emulates.

    Raises UsageError for a path that `docker run -v` can't be given.
    """
    mounts = [*(_given_mounts(npus) if npus else ()), *_own_mounts(wish, npus)]
    for mount in mounts:
        if mount.source and (":" in mount.source or not mount.source.startswith("/")):
            raise UsageError(f"{mount.source}: docker's -v takes absolute paths without a colon; use another")
    return ContainerRecipe(
        image=wish.digest or wish.image,
        arguments=wish.arguments,
        nodes=tuple(_nodes(npus)) if npus else (),
        mounts=tuple(mounts),
        variables=(*_image_variables(wish), *(_variables(wish, npus) if npus else ())),
        user=Setting("--user", f"{wish.user_id}:{wish.group_id}", "what it leaves is the caller's"),
        groups=tuple(_groups(wish, npus)) if npus else (),
        shm_size=Setting(
            "--shm-size", wish.shm_size, "vLLM's processes share memory there; docker's own 64m are too few"
        ),
        network=Setting("--network", wish.network, _why_network(wish.network)),
        tmpfs=Setting(
            "--tmpfs", f"{SCRATCH}:{_TMPFS_OPTIONS}", "scratch and home; what is compiled there is loaded"
        ),
        workdir=Setting("--workdir", WORK, "a run's archive goes to runs/ of this folder"),
        folders=tuple(mount.source for mount in mounts if mount.source and not mount.read_only),
        missing=tuple(_missing(npus)) if npus else (),
        notes=tuple(_notes(npus)) if npus else (),
    )


def _why_network(network: str) -> str:
    return "a run downloads nothing" if network == "none" else "as asked for"


def _nodes(npus: HostDies) -> Iterator[Node]:
    for number in npus.chosen.nodes:
        yield Node(die_node(number), "a die")
    for need in needs_of(npus.chosen.chip, len(npus.chosen.nodes)):
        (path,) = need.paths(npus.files.driver) if need.kind == "device" else (None,)
        if path is not None and (need.required or path in npus.files.there):
            yield Node(path, need.why)


def _given_mounts(npus: HostDies) -> Iterator[Mount]:
    """What the host gives to look at, where it has it; what it lacks and should not, at its usual place."""
    driver = npus.files.driver
    for need in needs_of(npus.chosen.chip, len(npus.chosen.nodes)):
        if need.kind == "device":
            continue
        source = next((path for path in need.paths(driver) if path in npus.files.there), None)
        if source or need.required:
            yield Mount(source or need.target(driver), need.target(driver), True, need.why)


def _own_mounts(wish: Wish, npus: HostDies | None) -> Iterator[Mount]:
    if wish.model is not None:
        yield Mount(wish.model, wish.model, True, "the model, under the same path")
    yield Mount(wish.runs, RUNS, False, "archives")
    for name in WRITTEN:
        source, end = None, "gone with the container"
        if wish.cache is not None:
            source, end = f"{wish.cache}/{name}", "kept for the next one"
        yield Mount(source, f"{CACHE}/{name}", False, f"{name} of a run with its own vllm-ascend, {end}")
    if npus:
        yield Mount(wish.locks, wish.locks, False, "locks of dies, shared by all runs of the host")


def _image_variables(wish: Wish) -> Iterator[Setting]:
    yield Setting(REFERENCE_VARIABLE, wish.image, "the name of the image, for the archive")
    if wish.digest is not None:
        yield Setting(DIGEST_VARIABLE, wish.digest, "which image that is: none knows its own digest")


def _variables(wish: Wish, npus: HostDies) -> Iterator[Setting]:
    yield Setting(FOLDER_VARIABLE, wish.locks, "where those locks are")
    if npus.chosen.chip is not None:
        yield Setting(CHIP_VARIABLE, npus.chosen.chip, "what the entry point looks for, too, is the chip's")
    if value := npus.chosen.visible_devices:
        numbers = ", ".join(f"davinci{number}" for number in npus.chosen.nodes)
        why = f"a container numbers its dies from 0: {numbers}"
        yield Setting(RT_VISIBLE_DEVICES, value, why)


def _groups(wish: Wish, npus: HostDies) -> Iterator[Setting]:
    for group in npus.files.groups:
        if group != wish.group_id:
            yield Setting("--group-add", str(group), "the group that the device nodes belong to")


def _missing(npus: HostDies) -> Iterator[str]:
    files = npus.files
    for number in npus.chosen.nodes:
        if number not in files.dies:
            yield f"no {die_node(number)} (a die): docker run needs --device {die_node(number)}"
    for need in needs_of(npus.chosen.chip, len(npus.chosen.nodes)):
        if need.required and not any(path in files.there for path in need.paths(files.driver)):
            yield need.missing(files.driver)


def _notes(npus: HostDies) -> Iterator[str]:
    if npus.chosen.chip is None:
        yield "which NPU this is can't be told by its name; the container gets what an A2 needs"
