"""Repositories for a machine without network: gathered in a folder on one, taken from it on another.

The folder has them as the cache does, `repositories/<digest of the address>.git`, submodules' too.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from npu_assay.cache import facts_of, is_complete
from npu_assay.errors import UsageError
from npu_assay.source.git import GitError
from npu_assay.source.location import GitRef, parse_url
from npu_assay.source.repository import FOLDER, Repository, export_ref

Report = Callable[[str], None]


def gather_commit(ref: GitRef, folder: Path, report: Report) -> tuple[str, ...]:
    """Have in `folder` what an export of the commit needs, its submodules too; what of these is missing.

    What is there already is not asked for again. Raises UsageError for a repository that can't be reached or
    does not have the commit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=folder) as scratch:
        return export_ref(ref, Path(scratch), folder, report).notes


def take_repositories(folder: Path, cache: Path, report: Report) -> None:
    """Take what `folder` has, if anything, into the cache. Raises UsageError for a damaged repository."""
    for gathered in sorted((folder / FOLDER).glob("*.git")):
        if not is_complete(gathered):
            continue
        repository = Repository(cache, parse_url(str(facts_of(gathered)["url"])))
        with repository.held(report):
            try:
                repository.take_from(gathered)
            except GitError as error:
                raise UsageError(f"{gathered}: {error}; remove it, and fetch it again") from error
