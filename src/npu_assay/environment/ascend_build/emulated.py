"""A build for the emulator: the tree's Python over the compiled parts of the environment's own wheel."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from npu_assay.environment.ascend_binding import RECORD_NAME
from npu_assay.environment.ascend_build.locked import ANY_SOC
from npu_assay.environment.ascend_build.overlay import build_python, dist_info, put_over, require_package
from npu_assay.environment.ascend_build.wheel_parts import installed_parts
from npu_assay.environment.environment import Environment
from npu_assay.source.tree import SourceTree


def make_emulated(environment: Environment, tree: SourceTree, folder: Path) -> Mapping[str, object]:
    """Fill `folder`, a new one, with site/ and build.log; the facts for complete.json.

    Raises AssayError where the tree's setup.py fails.
    """
    site, wheels = folder / "site", environment.site_packages
    build_python(environment, tree, site, soc=ANY_SOC["SOC_VERSION"], log=folder / "build.log")
    require_package(site)
    note = dist_info(wheels) / RECORD_NAME
    if note.is_file():  # the module that it tells about comes along
        shutil.copy2(note, dist_info(site))
    parts = installed_parts(environment)
    put_over(site, parts.files, wheels)
    return {
        "tree_sha256": tree.record.tree_sha256,
        "version": tree.record.version,
        "compiled_parts": f"{len(parts.files)} files of {wheels}",
    }
