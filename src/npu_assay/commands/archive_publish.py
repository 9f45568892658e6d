"""`npu-assay archive publish`: an archive goes under logs/, to be committed."""

from pathlib import Path

import click

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import own_mode
from npu_assay.commands.discrepancies import require_none
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import open_archive
from npu_assay.evidence.publication.check import check_published
from npu_assay.evidence.publication.layout import Publication, check_name, default_name, stage_logs
from npu_assay.evidence.publication.publish import publish as publish_archive
from npu_assay.project import ROOT
from npu_assay.report.derived import RULE, judge


@click.command()
@click.argument("folder", metavar="ARCHIVE", type=click.Path(path_type=Path))
@click.option(
    "--name",
    metavar="NAME",
    help="Its name under logs/.  [default: the environment's, with -emulated where the run was]",
)
@click.option("--replace", is_flag=True, help="Put it in the place of the archive of that name.")
@click.option(
    "--checkout",
    type=click.Path(path_type=Path),
    default=ROOT,
    metavar="DIR",
    help="Where logs/ and SHA256SUMS are.  [default: this checkout]",
)
def publish(folder: Path, name: str | None, replace: bool, checkout: Path) -> None:
    """Copy ARCHIVE to logs/NAME and the logs of its stages to logs/NAME-STAGE.log, and write SHA256SUMS anew.

    An archive that is not as it was sealed is refused, and so is one whose statement or reports are not what
    is derived from it. One that does not pass may be published; its verdict is printed. An emulated run is
    published under a name with `emulated` in it.
    """
    archive = open_archive(folder)
    if not checkout.is_dir():
        raise UsageError(f"--checkout {checkout}: no such folder")
    mode = own_mode(folder)
    emulated = mode is Mode.EMULATED
    name = default_name(archive, emulated) if name is None else name
    check_name(name, emulated)
    verdict = judge(folder, mode)
    for finding in verdict.findings:
        if finding.rule == RULE and finding.result is not Result.PASS:
            raise UsageError(f"{folder}: {finding.message}; type: npu-assay archive sums {folder}")
    publication = Publication(checkout)
    publish_archive(archive, publication, name, replace=replace)
    published = publication.archive(name)
    click.echo(verdict.line)
    click.echo(f"published: {published.root}, and {len(stage_logs(name, published))} logs beside it")
    say_published(publication)
    click.echo(f"now commit {publication.logs} and {publication.sums}")


def say_published(publication: Publication) -> None:
    """Compare what is published with its SHA256SUMS. Raises AssayError when it differs."""
    require_none(check_published(publication), str(publication.logs), str(publication.sums))
    names = ", ".join(publication.archives())
    click.echo(f"{publication.logs}: every file matches SHA256SUMS; archives: {names}")
