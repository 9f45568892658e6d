"""`npu-assay compare`: two archives side by side, or one against a baseline."""

import math
import sys
from pathlib import Path

import click

from npu_assay.comparison.baseline import write_baseline
from npu_assay.comparison.comparison import Comparison
from npu_assay.comparison.comparison import compare as compare_sides
from npu_assay.comparison.presentation.markdown import as_markdown
from npu_assay.comparison.presentation.text import as_text
from npu_assay.comparison.reading import read_archive, read_side
from npu_assay.errors import UsageError


def _as_json(comparison: Comparison) -> str:
    return comparison.model_dump_json(indent=2)


def _finite(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of per cent.")
    return value


_FORMATS = {"text": as_text, "json": _as_json, "markdown": as_markdown}


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", required=False, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="text", show_default=True)
@click.option(
    "--tolerance",
    metavar="PCT",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    callback=_finite,
    help="Worse by more than so many per cent, and by more than the noise, is a regression.",
)
@click.option(
    "--save-baseline",
    "baseline",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write what a later comparison needs of A to FILE, which then stands for A or B.",
)
def compare(a: Path, b: Path | None, form: str, tolerance: float, baseline: Path | None) -> None:
    """What is other in B than in A, and what of it is worse.

    A and B are run archives, or baselines. JSON has a schema: src/npu_assay/schemas/comparison.schema.json.

    Exit codes: 0 no regression; 1 a regression (a stage that passed and does not, a test or a case that is
    gone, other tokens, a performance that is worse) or an archive that is not as its SHA256SUMS says; 2 bad
    input; 3 nothing could be compared.
    """
    if baseline is not None:
        if b is not None:
            raise UsageError("--save-baseline takes one archive; leave out B")
        if a.resolve() in baseline.resolve().parents:
            raise UsageError(
                f"{baseline}: in the archive, whose SHA256SUMS would not have it; choose a place outside"
            )
        write_baseline(baseline, read_archive(a))
        click.echo(f"wrote {baseline}")
        return
    if b is None:
        raise UsageError("name the archive or baseline to compare with, or give --save-baseline FILE")
    found = compare_sides(read_side(a), read_side(b), tolerance)
    click.echo(_FORMATS[form](found))
    sys.exit(found.exit_code)
