"""`npu-assay archive merge`: the shards of a run become one archive."""

import shlex
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from npu_assay.claims.findings import Result
from npu_assay.errors import UsageError
from npu_assay.evidence.atomic import folder_beside
from npu_assay.evidence.merged.merge import merge as merge_shards
from npu_assay.evidence.merged.record import JoinedShard, MergedRecord
from npu_assay.report.derived import derive


@click.command()
@click.argument("folders", metavar="SHARD...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="New folder for the archive."
)
def merge(folders: tuple[Path, ...], out: Path) -> None:
    """Join the archives of all shards of a run into one, which `verify` judges as a whole.

    The shards are copied and stay as they are. Exit codes: 0 the merged archive passes, 1 it fails, 2 these
    are not the shards of one run, 3 it is inconclusive.
    """
    _check_target(out, folders)
    with folder_beside(out.absolute()) as folder:
        record = merge_shards(folders, folder)
        verdict = derive(folder)
    console = Console()
    console.print(_table(record))
    for finding in verdict.findings:
        if finding.result is Result.FAIL:
            click.echo(f"{finding.rule}: {finding.message}")
    click.echo(verdict.line)
    if verdict.exit_code:
        click.echo(f"each finding: npu-assay verify --mode {verdict.mode.value} {shlex.quote(str(out))}")
    click.echo(f"report: {out / 'report.html'}")
    click.echo(f"archive: {out}")
    sys.exit(verdict.exit_code)


def _check_target(out: Path, folders: tuple[Path, ...]) -> None:
    """Before anything is copied."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(f"{out}: not empty; an archive needs a new folder, choose another with --out")
    for folder in folders:
        if folder.resolve() in (out.resolve(), *out.resolve().parents):
            raise UsageError(f"{out}: inside of {folder}, which is left as it is; choose another with --out")


def _table(record: MergedRecord) -> Table:
    """Which host ran what."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("shard", "host", "stages"):
        table.add_column(column)
    table.add_column("seconds", justify="right", no_wrap=True)
    for shard in record.shards:
        stages = ", ".join(stage.name for stage in shard.stages)
        table.add_row(str(shard.shard), escape(_host(shard)), escape(stages), f"{shard.seconds:.1f}")
    return table


def _host(shard: JoinedShard) -> str:
    host = shard.host
    told = "" if host.id is None else f", id {host.id[:8]}"
    return f"{host.system}, {host.kernel}, {host.machine}, {host.cpus} CPUs{told}"
