"""`npu-assay env prune`: what the cache holds and nothing needs."""

import click

from npu_assay.cache import cache_root
from npu_assay.environment.prune import all_environments, needed, plan
from npu_assay.environment.prune import prune as remove


@click.command()
@click.option("--dry-run", is_flag=True, help="Tell what would go.")
@click.option(
    "--all", "everything", is_flag=True, help="Also what this checkout needs, and the benchmarks' own."
)
@click.option(
    "--older-than",
    "days",
    type=click.FloatRange(min=0),
    default=0,
    metavar="DAYS",
    help="Only what was made so many days ago.",
)
def prune(dry_run: bool, everything: bool, days: float) -> None:
    """Remove what no lock and no source of this checkout names.

    These are environments, emulator builds and plug-ins in the cache, and the trees, builds and repositories
    of runs with --vllm-ascend or --patch.
    What somebody uses at this moment stays. Other checkouts that share the cache make again what they miss.
    """
    cache = cache_root()
    needs = needed(cache, all_environments(cache))
    pruning = plan(cache, needs, everything=everything, older_than_days=days)
    removed = pruning.unused if dry_run else remove(pruning)
    total = 0
    for item in removed:
        total += item.size
        click.echo(f"{item.size >> 20:>6} MiB  {item.path.relative_to(cache)}  ({item.why})")
    for path in pruning.in_use:
        click.echo(f"    in use  {path.relative_to(cache)}")
    click.echo(f"{total >> 20:>6} MiB {'would be' if dry_run else 'are'} freed in {cache}")
