"""Exporting a SOURCE: its files in a new folder, and where they come from."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

from npu_assay.cache import writing
from npu_assay.errors import UsageError
from npu_assay.source.distribution import export_sdist, export_wheel
from npu_assay.source.exported import files_of, take_exported, write_origin
from npu_assay.source.location import Exported, Folder, GitRef, Location, Sdist, Wheel
from npu_assay.source.native import PACKAGE
from npu_assay.source.origin import Origin
from npu_assay.source.repository import export_ref
from npu_assay.source.working_tree import export_folder

Report = Callable[[str], None]

#: Without these it is not vllm-ascend's source.
_OF_A_TREE = ("setup.py", "vllm_ascend/__init__.py")
_OF_A_WHEEL = ("vllm_ascend/__init__.py",)


def export(location: Location, into: Path, cache: Path, report: Report) -> Origin:
    """Write the files into `into`, a new folder. Raises UsageError for whatever is wrong with the source."""
    if isinstance(location, Folder):  # before all of a home folder is copied
        require_vllm_ascend(location, location.path, str(location))
    origin = _export(location, into, cache, report)
    require_vllm_ascend(location, into, origin.given)
    return origin


def export_to(location: Location, folder: Path, cache: Path, report: Report) -> Origin:
    """Export into `folder`, a new one, which is a SOURCE itself then. Raises UsageError as `export` does."""
    if not isinstance(location, Folder | GitRef):
        kind = "is one already" if isinstance(location, Exported) else "is one file already"
        raise UsageError(f"--vllm-ascend {location}: {kind}; --export is for folders and git")
    advice = "name another with --export"
    if folder.exists():
        raise UsageError(f"--export {folder}: is there already; {advice}")
    with writing(folder, {errno.ENOENT}, what="the folder", advice=advice):
        files_of(folder).mkdir(parents=True)
        try:
            origin = export(location, files_of(folder), cache, report)
            write_origin(folder, origin)
        except BaseException:
            shutil.rmtree(folder)
            raise
    return origin


def require_vllm_ascend(location: Location, folder: Path, given: str) -> None:
    """Raises UsageError where a folder, which `given` names, is no vllm-ascend."""
    if (folder / PACKAGE).is_symlink():
        raise UsageError(
            f"--vllm-ascend {given}: {PACKAGE} is a link, expected a folder; give one with its files"
        )
    expected = _OF_A_WHEEL if isinstance(location, Wheel) else _OF_A_TREE
    if missing := [name for name in expected if not (folder / name).is_file()]:
        raise UsageError(
            f"--vllm-ascend {given}: no {missing[0]} in it, so no vllm-ascend; expected its root"
        )


def _export(location: Location, into: Path, cache: Path, report: Report) -> Origin:
    match location:
        case Folder(path):
            return export_folder(path, into)
        case Exported(path):
            return take_exported(path, into)
        case GitRef():
            return export_ref(location, into, cache, report)
        case Sdist(path):
            return export_sdist(path, into)
        case Wheel(path):
            return export_wheel(path, into)
