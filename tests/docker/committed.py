"""The files of the checkout that are or would be committed, and a copy of them to change."""

import shutil
import subprocess
from pathlib import Path

from npu_assay.project import ROOT


def committed() -> list[Path]:
    """All but what git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def copy_committed(folder: Path) -> None:
    """Copy what images are built from, and whatever else is no test and no published archive."""
    for path in committed():
        name = path.relative_to(ROOT)
        if name.parts[0] not in ("logs", "tests"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / name)
