"""A mark beside a folder that is being installed: it stays where an installation did not end."""

from pathlib import Path

from npu_assay.cann.paths import is_file

_SUFFIX = ".unfinished"


def mark_of(root: Path, part: Path) -> Path:
    """The mark of a part below the root: `cann-9.0.0.unfinished`, `nnal-atb-9.0.0.unfinished`."""
    return root / ("-".join(part.relative_to(root).parts) + _SUFFIX)


def unfinished(root: Path, part: Path) -> Path | None:
    """The part's mark, if it has one."""
    if not part.is_relative_to(root):
        return None
    mark = mark_of(root, part)
    return mark if is_file(mark) else None


def how_to_remove(part: Path, mark: Path | None = None) -> str:
    """The command that removes what an installation has left."""
    return f"rm -rf {' '.join(map(str, filter(None, (part, mark))))}"
