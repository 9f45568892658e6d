"""The lock's own vllm-ascend, compiled on hardware where the lock has no wheel of it.

It is kept in the cache as every other build is, beside no venv; a file in the environment's folder says which
build it was, so that what is there can be told without network.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from npu_assay.cache import is_complete, write_json
from npu_assay.cann.variables import search_path
from npu_assay.environment.ascend_build.build import build
from npu_assay.environment.ascend_build.locked import make_locked_tree
from npu_assay.environment.environment import Environment

Report = Callable[[str], None]

_POINTER = "vllm-ascend.json"


def build_locked(environment: Environment, report: Report) -> Path:
    """Make the build of the lock's own if it is not there; its folder.

    Raises UnusableError where its sources can't be had or something is missing, AssayError where they do not
    compile.
    """
    tree = make_locked_tree(environment, report)
    folder = build(replace(environment, tree=tree), report)
    environment.root.mkdir(parents=True, exist_ok=True)
    write_json(environment.root / _POINTER, {"build": folder.name, "tree_sha256": tree.record.tree_sha256})
    return folder


def locked_build(environment: Environment) -> Path | None:
    """The folder of the build that `build_locked` made last, if it is still there."""
    try:
        name = str(json.loads((environment.root / _POINTER).read_bytes())["build"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    folder = environment.cache / "builds" / name
    return folder if is_complete(folder) else None


def with_locked(environment: Environment, variables: Mapping[str, str]) -> dict[str, str]:
    """Variables of a command of the environment; what was compiled, which no venv has, is on PYTHONPATH."""
    folder = locked_build(environment)
    site = None if folder is None else folder / "site"
    path = search_path(site, variables.get("PYTHONPATH"))
    return {**variables, **({"PYTHONPATH": path} if path else {})}
