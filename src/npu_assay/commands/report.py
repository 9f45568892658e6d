"""`npu-assay report`: an archive for people to read."""

from pathlib import Path

import click

from npu_assay.evidence.archive import Archive, open_archive, writing
from npu_assay.report.derived import REPORTS, derive


@click.command()
@click.argument("folder", metavar="ARCHIVE", type=click.Path(path_type=Path))
def report(folder: Path) -> None:
    """Write report.md and report.html into ARCHIVE.

    Both say the verdict, what was run, stages, findings with the lines that they are about, rounds, tests and
    versions. report.html is one file that loads nothing, for a browser, a phone, paper. They are derived from
    the sealed files alone, so `verify` can derive them again; what is there is replaced. Exits 0 whatever the
    verdict is: judging is verify's.
    """
    with writing(Archive(folder)):
        opened = open_archive(folder)
        verdict = derive(opened.root, which=REPORTS)
    click.echo(verdict.line)
    for derived in REPORTS:
        click.echo(f"wrote {opened.root / derived.name}")
