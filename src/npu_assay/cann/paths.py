"""Questions about paths that are never errors: what this user can't look at is not there for this user."""

from pathlib import Path


def is_there(path: Path) -> bool:
    """Whether the path, or what it links to, exists."""
    try:
        return path.exists()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Whether it is, or links to, a regular file."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether it is, or links to, a folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def real_path(path: Path) -> Path:
    """The path without links; as it stands where they run in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def is_within(path: Path, folder: Path) -> bool:
    """Whether the path is the folder or below it; both without links."""
    return path == folder or folder in path.parents
