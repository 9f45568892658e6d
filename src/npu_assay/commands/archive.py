"""`npu-assay archive`: checksums of run archives, and archives made of archives."""

from pathlib import Path

import click

from npu_assay.commands.archive_merge import merge
from npu_assay.commands.archive_publish import publish, say_published
from npu_assay.commands.discrepancies import require_none
from npu_assay.evidence.archive import Archive, open_archive, reading, seal, writing
from npu_assay.evidence.archive import check as check_sums
from npu_assay.evidence.publication.layout import Publication
from npu_assay.report.derived import derive

_ARCHIVE = click.argument("folder", metavar="ARCHIVE", type=click.Path(path_type=Path))


@click.group()
def archive() -> None:
    """Write and check the checksums of a run archive; join and publish archives."""


archive.add_command(merge)
archive.add_command(publish)


@archive.command()
@_ARCHIVE
def sums(folder: Path) -> None:
    """Write SHA256SUMS over every file of ARCHIVE, and what is derived from them.

    Those that are there are replaced.
    """
    with writing(Archive(folder)):
        opened = open_archive(folder)
        seal(opened)
        verdict = derive(opened.root)
    click.echo(f"wrote {opened.sums}, and derived anew what says: {verdict.line}")


@archive.command()
@_ARCHIVE
@click.option(
    "--published", is_flag=True, help="ARCHIVE is a checkout: check its logs/ and every archive there."
)
def check(folder: Path, published: bool) -> None:
    """Compare ARCHIVE with its SHA256SUMS; exit 1 if they differ."""
    if published:
        say_published(Publication(folder))
        return
    with reading(folder):
        discrepancies = check_sums(open_archive(folder))
    require_none(discrepancies, str(folder), "SHA256SUMS")
    click.echo(f"{folder}: every sealed file matches SHA256SUMS")
