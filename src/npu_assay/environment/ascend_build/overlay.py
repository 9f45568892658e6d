"""A tree's Python, built by its own setup.py, with compiled parts of somewhere else put over it.

setup.py compiles nothing with COMPILE_CUSTOM_KERNELS=0, and writes _build_info.py and _version.py all the
same (vllm-ascend's setup.py: custom_build_info, get_version).
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from npu_assay.environment.ascend_build.locked import DISTRIBUTION
from npu_assay.environment.ascend_build.variables import setup_variables
from npu_assay.environment.ascend_build.wheels import build_error
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.environment.pip import run_pip
from npu_assay.environment.record import record_row
from npu_assay.errors import AssayError, UnusableError
from npu_assay.source.native import PACKAGE, is_compiled
from npu_assay.source.tree import SourceTree

BYTE_CODE = "__pycache__"


def build_python(environment: Environment, tree: SourceTree, site: Path, *, soc: str, log: Path) -> None:
    """Put the tree's Python into `site`, a new folder for PYTHONPATH, with its dist-info.

    Sources are built by their own setup.py, in a copy, as it writes into its folder; of a wheel it is what
    no compiler has made. Raises AssayError with the first error.
    """
    if tree.is_wheel:
        _copy_wheels_python(tree.files, site)
        return
    draft = site.parent / "source"
    shutil.copytree(tree.files, draft, symlinks=True)
    try:
        run_pip(
            environment,
            [
                *("install", "--no-deps", "--no-build-isolation", "--no-index"),
                *("--target", str(site), str(draft)),
            ],
            log=log,
            telling=build_error,
            doing=f"building {DISTRIBUTION} {tree.record.version}: pip install",
            extra=setup_variables(soc, tree.record.version, compiles=False),
        )
    except UnusableError as error:  # the tree's fault, not the environment's
        raise AssayError(str(error)) from error
    shutil.rmtree(draft)


def _copy_wheels_python(files: Path, site: Path) -> None:
    """Byte code stays behind: Python would believe it, whatever the sources beside it say."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        below = Path(folder).relative_to(files)
        return {name for name in names if name == BYTE_CODE or is_compiled((below / name).as_posix())}

    shutil.copytree(files, site, ignore=left_out)


def require_package(site: Path) -> None:
    """Raises AssayError where a build has no package of its own: Python would import the installed one."""
    init = site / PACKAGE / "__init__.py"
    if not init.is_file():
        raise AssayError(
            f"{init}: setup.py built no such file, so the installed {PACKAGE} would be imported in place"
            " of the tree's; does a patch change what setup.py packs?"
        )


def put_over(site: Path, names: Iterable[str], origin: Path) -> None:
    """Put files of `origin`, a site-packages folder or one like it, into `site`, and write RECORD anew.

    Files that lie on the same disk are shared (hard links): they are large, and nobody writes to them.
    """
    for name in names:
        to = site / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.unlink(missing_ok=True)
        try:
            os.link(origin / name, to)
        except OSError:  # another disk, or one without such links
            shutil.copy2(origin / name, to)
    write_record(site)


def write_record(site: Path) -> None:
    """Write vllm-ascend's RECORD: every file in `site`, which holds nothing else."""
    record = dist_info(site) / "RECORD"
    files = sorted(path for path in site.rglob("*") if path.is_file() and path != record)
    rows = [
        # As installers do: byte code is made again by whoever likes.
        record_row(path.relative_to(site).as_posix(), None if path.suffix == ".pyc" else path.read_bytes())
        for path in files
    ]
    rows.append(record_row(record.relative_to(site).as_posix()))
    record.write_bytes("".join(rows).encode())


def dist_info(site: Path) -> Path:
    """The dist-info of vllm-ascend in a folder. Raises UnusableError where it is not there."""
    there = installed(site).get(DISTRIBUTION)
    if there is None:
        raise UnusableError(f"{site}: no {DISTRIBUTION} in it; install the environment")
    return there.dist_info
