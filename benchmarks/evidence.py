"""Measure what evidence costs, as ratios to the plainest way to do the same; see README.md here.

./.venv/bin/python benchmarks/evidence.py [--only PART]... [--repetitions N] [--write]
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import checking
import click
import storing
from contest import Contest, hold, table
from machine import describe_machine, today
from report import EVIDENCE, write_report

from npu_assay.errors import AssayError

README = Path(__file__).with_name("README.md")
PARTS = ("checking", "storing", "stages")


def contests(
    scratch: Path, parts: tuple[str, ...], big: int, output: int, stage: float, archive: Path | None
) -> Iterator[Contest]:
    """All of the chosen parts. One's files are made when its turn comes."""
    if "checking" in parts:
        yield from checking.contests(scratch, big)
        if archive is not None:
            yield checking.verify_contest(archive)
    if "storing" in parts:
        yield from storing.output_contests(scratch, output)
    if "stages" in parts:
        yield storing.pipeline_contest(scratch, stage)


@click.command(help=__doc__.splitlines()[0])
@click.option("--only", "parts", type=click.Choice(PARTS), multiple=True, help="Measure this part.")
@click.option("--repetitions", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--archive", type=click.Path(path_type=Path, exists=True), help="A run archive to verify, too.")
@click.option("--big", type=click.IntRange(min=10), default=250, show_default=True, help="MB of a big file.")
@click.option("--output", type=click.IntRange(min=1), default=500, show_default=True, help="MB of output.")
@click.option("--stage", type=click.FloatRange(min=0.1), default=3.0, show_default=True, help="Seconds.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where files are made; 2 GB of room.")
@click.option("--write", is_flag=True, help="Put the result into README.md beside this program.")
def main(
    parts: tuple[str, ...],
    repetitions: int,
    archive: Path | None,
    big: int,
    output: int,
    stage: float,
    scratch: Path | None,
    write: bool,
) -> None:
    """Print the result; exit 1 when something took more than it may."""
    try:
        machine = describe_machine()
        scores = []
        with tempfile.TemporaryDirectory(prefix="npu-assay-evidence-", dir=scratch) as folder:
            for contest in contests(Path(folder), parts or PARTS, big, output, stage, archive):
                scores.append(hold(contest, repetitions))
                click.echo(str(scores[-1]), err=True)
    except AssayError as error:
        click.echo(f"evidence.py: {error}", err=True)
        sys.exit(error.exit_code)
    facts = f"\n- machine: {machine}\n- repetitions: {repetitions}, in turn\n- date: {today()}\n"
    click.echo(table(scores) + facts, nl=False)
    if write:
        write_report(README, EVIDENCE, table(scores) + facts)
    sys.exit(0 if all(score.passed for score in scores) else 1)


if __name__ == "__main__":
    main()
