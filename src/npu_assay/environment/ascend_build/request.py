"""Which vllm-ascend a run was asked for, and making it ready: tree, base, and the environment with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from npu_assay.environment.ascend_build.build import base_listing
from npu_assay.environment.ascend_build.locked import DISTRIBUTION, locked_in_git, make_locked_tree
from npu_assay.environment.environment import Environment
from npu_assay.source.listing import Listing
from npu_assay.source.location import Location, parse_location
from npu_assay.source.patches import Patch, read_patches
from npu_assay.source.tree import SourceTree, Wanted, make_tree

Report = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What --vllm-ascend and --patch, or a pipeline file, ask for."""

    location: Location | None = None
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True)
class RunSource:
    """The vllm-ascend of a run."""

    environment: Environment
    """The environment that imports it."""
    tree: SourceTree
    patches: tuple[Patch, ...]
    base: Listing | None
    """What of it is compiled in the lock's own; None where nothing is held against that."""


def read_request(source: str | None, patches: Sequence[Path]) -> Request:
    """Read both options. Raises UsageError for a SOURCE that is none and a patch that can't be read."""
    return Request(None if source is None else parse_location(source), read_patches(patches))


def named_tree(request: Request, environment: Environment, report: Report) -> SourceTree | None:
    """The tree of a request for which nothing needs to be installed; None where that is not so.

    It is that of a SOURCE that is named, and the lock's own where it is compiled from a repository. Raises
    UsageError for whatever is wrong with it or its patches, UnusableError where the lock's can't be had.
    """
    if request.location is None:
        early = environment.variant.compiles(DISTRIBUTION) and locked_in_git(environment)
        return make_locked_tree(environment, report, request.patches) if early else None
    version = environment.variant.versions[DISTRIBUTION]
    return make_tree(Wanted(request.location, request.patches), version, environment.cache, report)


def of_the_lock(environment: Environment, tree: SourceTree) -> RunSource:
    """The lock's own: the installed one, or on hardware, where there is no wheel, its tree to build."""
    compiled = environment.variant.compiles(DISTRIBUTION)
    own = replace(environment, tree=tree) if compiled else environment
    return RunSource(own, tree, (), None)


def run_source(
    request: Request, named: SourceTree | None, environment: Environment, report: Report
) -> RunSource:
    """Everything of a request, in an environment that is installed; `named` is what `named_tree` gave.

    Raises UsageError for a patch that does not apply to the lock's own, UnusableError where that is not to be
    had.
    """
    if request.location is None and not request.patches:
        return of_the_lock(environment, named or make_locked_tree(environment, report))
    tree = named or make_locked_tree(environment, report, request.patches)
    emulated = environment.variant.kind == "emulated"
    base = base_listing(environment, tree, report) if emulated else None
    return RunSource(replace(environment, tree=tree), tree, request.patches, base)
