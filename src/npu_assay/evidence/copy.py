"""Copy a whole archive, byte for byte."""

import shutil
from pathlib import Path

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, check, read_sums, special_files


def copy_checked(archive: Archive, folder: Path) -> None:
    """Copy an archive into a new folder and hold the copy against its SHA256SUMS: that is what is kept.

    Links are never followed. Raises UsageError for an archive that is not as it was sealed.
    """
    if special := special_files(archive.root):
        raise UsageError(f"{special[0]}: not a regular file; an archive holds nothing else")
    read_sums(archive)  # what is wrong with it is said of this archive, not of the copy
    for path in sorted(archive.root.rglob("*")):
        copied = folder / path.relative_to(archive.root)
        if path.is_dir():
            copied.mkdir(parents=True)
        else:
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied, follow_symlinks=False)
    if problems := check(Archive(folder)):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UsageError(f"{archive.root}: not as it was sealed: {problems[0]}{more}")
