"""Copy a whole archive, byte for byte."""

import shutil
from pathlib import Path

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, check, read_sums, reading
from npu_assay.evidence.contents import contents_of
from npu_assay.sums import parse_sums
from npu_assay.wording import first_of


def copy_checked(archive: Archive, folder: Path) -> None:
    """Copy an archive into a new folder and hold the copy against its SHA256SUMS: that is what is kept.

    Links are never followed. Raises UsageError for an archive that is not as it was sealed, or that another
    process writes to.
    """
    with reading(archive.root):
        # What is wrong with it is said of this archive, not of the copy.
        parse_sums(read_sums(archive), str(archive.sums))
        contents = contents_of(archive.root)
        if contents.special:
            first = archive.root / min(contents.special)
            raise UsageError(f"{first}: not a regular file; an archive holds nothing else")
        for name in sorted(contents.sizes):
            copied = folder / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(archive.root / name, copied, follow_symlinks=False)
    if problems := check(Archive(folder)):
        raise UsageError(f"{archive.root}: not as it was sealed: {first_of(problems[0], len(problems))}")
