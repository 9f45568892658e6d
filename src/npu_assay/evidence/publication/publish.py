"""Put an archive under logs/, beside those that are there."""

import filecmp
import shutil
from collections.abc import Iterable

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, remove, writing
from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.contents import contents_of, hash_files
from npu_assay.evidence.copy import copy_checked
from npu_assay.evidence.publication.layout import Publication, ruled_by_git, stage_logs
from npu_assay.printable import printable
from npu_assay.sums import render_sums

_NEW, _OLD = "new", "old"


def publish(archive: Archive, publication: Publication, name: str, *, replace: bool) -> None:
    """Copy the archive to logs/<name>, its stages' logs beside it, and write the checkout's SHA256SUMS.

    Whatever ends this on the way, the archive of that name is the old or the new one, and the next `publish`
    puts right what is left. Raises UsageError for a name that is taken, in whatever way, for an archive that
    is not as it was sealed, and while another process publishes.
    """
    publication.logs.mkdir(exist_ok=True)
    with writing(Archive(publication.logs)):
        _publish(archive, publication, name, replace)


def _publish(archive: Archive, publication: Publication, name: str, replace: bool) -> None:
    _take_back(publication)
    target = publication.archive(name).root
    if target.exists() and not replace:
        raise UsageError(f"{target}: there already; choose another --name, or say --replace")
    _check_logs(archive, publication, name)
    try:
        (publication.staging / name).mkdir(parents=True)
        new, old = (publication.staging / name / kind for kind in (_NEW, _OLD))
        copy_checked(archive, new)
        _check_names(archive, contents_of(new).sizes)
        if target.exists():
            for log in stage_logs(name, Archive(target)):
                (publication.logs / log).unlink(missing_ok=True)
            target.rename(old)
        new.rename(target)
        _write_logs(publication)
        write_atomically(publication.sums, render_sums(_sums(publication)))
    finally:
        _take_back(publication)


def _take_back(publication: Publication) -> None:
    """An archive that was to be replaced when a publication ended is put back in its place."""
    for folder in publication.staging.glob("*"):
        target = publication.archive(folder.name).root
        if (folder / _OLD).exists() and not target.exists():
            (folder / _OLD).rename(target)
    if publication.staging.exists():
        remove(publication.staging)


def _check_names(archive: Archive, names: Iterable[str]) -> None:
    """A .gitattributes of an archive would say how git converts its neighbours."""
    for name in names:
        if ruled_by_git(name):
            raise UsageError(
                f"{archive.root}: {printable(name)}: git acts on such a file; it can't be published"
            )


def _check_logs(archive: Archive, publication: Publication, name: str) -> None:
    """No published log may have the name of another's: a-b with a stage c, and a with a stage b-c."""
    taken = {
        log: other
        for other, published in publication.archives().items()
        if other != name
        for log in stage_logs(other, published)
    }
    for log in stage_logs(name, archive):
        if log in taken:
            raise UsageError(f"logs/{log} is the log of {taken[log]} already; choose another --name")


def _write_logs(publication: Publication) -> None:
    """The stages' logs of every published archive, where they are not there or are others."""
    for name, archive in publication.archives().items():
        for log, path in stage_logs(name, archive).items():
            published = publication.logs / log
            if not (published.is_file() and filecmp.cmp(path, published, shallow=False)):
                beside = publication.staging / log
                shutil.copyfile(path, beside)
                beside.rename(published)


def _sums(publication: Publication) -> dict[str, str]:
    """Of every file under logs/ but what is on its way there."""
    staged = f"{publication.staging.name}/"
    sizes = contents_of(publication.logs).sizes
    sums: dict[str, str] = {}
    for name, found in hash_files(publication.logs, sizes).items():
        if isinstance(found, OSError):
            raise found
        if not name.startswith(staged):
            sums[f"{publication.logs.name}/{name}"] = found
    return sums
