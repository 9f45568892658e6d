"""Measure what an image takes to be built again after a change of one line; see README.md here.

./.venv/bin/python benchmarks/images.py [--fetched DIR] [--repetitions N] [--write]
"""

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from image_builds import CHANGES, DOCKERFILE, SOURCE_FIRST, TARGET, Bakery, Sources, bakery
from image_times import OrderTimes, excesses, table
from machine import describe_machine, today
from report import IMAGES, write_report

from npu_assay.errors import AssayError

README = Path(__file__).with_name("README.md")


def measure(
    order: str, sources: Sources, build: Callable[[], float], changes: Iterable[str], repetitions: int
) -> OrderTimes:
    """A cold build, then one after each change, so many times; `build` says how many seconds it took."""
    cold = build()
    click.echo(f"{order}: cold {cold:.1f} s", err=True)
    rebuilds: dict[str, list[float]] = {change: [] for change in changes}
    for _ in range(repetitions):
        for change, seconds in rebuilds.items():
            CHANGES[change](sources)
            seconds.append(build())
            click.echo(f"{order}: after {change} {seconds[-1]:.1f} s", err=True)
    return OrderTimes(order, cold, rebuilds)


def both_orders(bakery: Bakery, repetitions: int) -> list[OrderTimes]:
    """Ours, and the source first: there any change makes all layers again, so one of them has to do."""
    ours = measure("ours", bakery.sources, lambda: bakery.build(DOCKERFILE), CHANGES, repetitions)
    bakery.forget()
    one = [next(iter(CHANGES))]
    other = measure("the source first", bakery.sources, lambda: bakery.build(SOURCE_FIRST), one, 1)
    return [ours, other]


@click.command(help=__doc__.splitlines()[0])
@click.option(
    "--repetitions", type=click.IntRange(min=1), default=5, show_default=True, help="Changes of a kind."
)
@click.option(
    "--fetched",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of `env fetch`; without it, it is fetched before anything is measured.",
)
@click.option(
    "--scratch", type=click.Path(path_type=Path), help="Where the engine keeps its data; 13 GB of room."
)
@click.option("--write", is_flag=True, help="Put the result into README.md beside this program.")
def main(repetitions: int, fetched: Path | None, scratch: Path | None, write: bool) -> None:
    """Print the result; exit 1 when something took more than it may."""
    try:
        machine = describe_machine()
        with (
            tempfile.TemporaryDirectory(prefix="npu-assay-images-", dir=scratch) as folder,
            bakery(Path(folder), fetched) as found,
        ):
            version = found.engine.docker("version", "--format", "{{.Server.Version}}").stdout.strip()
            orders = both_orders(found, repetitions)
    except AssayError as error:
        click.echo(f"images.py: {error}", err=True)
        sys.exit(error.exit_code)
    facts = {"target": TARGET, "engine": f"Docker {version}", "machine": machine, "date": today()}
    result = table(orders) + "\n" + "".join(f"- {name}: {fact}\n" for name, fact in facts.items())
    click.echo(result, nl=False)
    if write:
        write_report(README, IMAGES, result)
    too_much = list(excesses(orders[0]))
    for line in too_much:
        click.echo(f"TOO MUCH: {line}", err=True)
    sys.exit(1 if too_much else 0)


if __name__ == "__main__":
    main()
