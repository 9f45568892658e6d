"""Folders of the host that a container is given."""

import os
from pathlib import Path

from npu_assay.cann.paths import is_within, real_path
from npu_assay.errors import UnusableError


def make_folders(folders: tuple[str, ...], locks: str) -> None:
    """Make those that are not there, as the caller's; that of locks is for every user of the host.

    Raises UnusableError: docker would make them too, for root alone.
    """
    for folder in map(Path, folders):
        if folder.is_dir():
            continue
        try:
            folder.mkdir(parents=True)
            if str(folder) == locks:
                folder.chmod(0o1777)
        except OSError as error:
            raise UnusableError(
                f"{folder}: can't be made ({error.strerror}); a container needs the folder"
            ) from error


def leads_out(model: Path) -> Path | None:
    """The first file of a model's folder that is a link to somewhere else, as in a hub's cache."""
    inside = real_path(model)
    with os.scandir(model) as entries:
        links = sorted(Path(entry.path) for entry in entries if entry.is_symlink())
    return next((link for link in links if not is_within(real_path(link), inside)), None)
