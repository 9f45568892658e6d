"""Making the build of an environment's tree, and what of it the emulator can't run."""

from collections.abc import Callable
from pathlib import Path

from npu_assay.cache import make_folder
from npu_assay.environment.ascend_build.emulated import make_emulated
from npu_assay.environment.ascend_build.hardware import HardwareBuild, build_on_hardware
from npu_assay.environment.ascend_build.locked import DISTRIBUTION, make_locked_tree
from npu_assay.environment.ascend_build.wheel_parts import wheels_parts
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.environment.record import damage_of
from npu_assay.errors import UnusableError
from npu_assay.source.listing import Listing
from npu_assay.source.native import compiled_parts, differences, native_parts
from npu_assay.source.tree import SourceTree

Report = Callable[[str], None]


def build(environment: Environment, report: Report) -> Path:
    """Make the build of the environment's tree if it is not there; its folder.

    Raises AssayError where the tree does not build, UnusableError where the environment can't build it.
    """
    tree, folder = environment.tree, environment.build_folder
    assert tree is not None, "only a tree of the run's own is built"
    if environment.variant.kind == "hardware":
        build_on_hardware(environment, report)
        if not tree.is_wheel:  # of somebody else's wheel, RECORD is somebody else's word
            _require_as_built(folder)
        return folder
    waiting = f"waiting for another npu-assay that builds {folder}"
    make_folder(folder, lambda new: make_emulated(environment, tree, new), lambda: report(waiting))
    _require_as_built(folder)
    return folder


def _require_as_built(folder: Path) -> None:
    """A build that stands in the cache, and was edited there, is not the tree's any more."""
    site = folder / "site"
    own = installed(site).get(DISTRIBUTION)
    damage = damage_of(own, site, lambda row: row.path.endswith(".py")) if own else None
    if not own or damage is None or damage:
        names = (*damage.missing, *damage.changed) if damage else (f"{DISTRIBUTION}'s RECORD",)
        raise UnusableError(
            f"{site / names[0]}: not as it was built ({len(names)} files); remove {folder} and try again"
        )


def logs_of(environment: Environment) -> list[Path]:
    """The logs of the build of the environment's tree that are there, in order."""
    if environment.variant.kind == "hardware" and environment.tree and not environment.tree.is_wheel:
        return HardwareBuild.of(environment).logs()
    log = environment.build_folder / "build.log"
    return [log] if log.is_file() else []


def base_listing(environment: Environment, tree: SourceTree, report: Report) -> Listing:
    """What is compiled of the lock's own, to hold the tree against: sources, or a wheel's files."""
    if tree.is_wheel:
        return wheels_parts(environment)
    return native_parts(make_locked_tree(environment, report).listing())


def native_differences(tree: SourceTree, base: Listing) -> list[str]:
    """The native files of the tree that are not the base's: what the emulator does not run."""
    listing = tree.listing()
    return differences(compiled_parts(listing) if tree.is_wheel else native_parts(listing), base)
