"""`npu-assay verify`: judge an archive from its raw bytes."""

import sys
from pathlib import Path

import click

from npu_assay.claims.case import Mode
from npu_assay.claims.presentation import as_json, as_junit, as_text
from npu_assay.evidence.archive import reading
from npu_assay.report.derived import judge

_FORMATS = {"text": as_text, "json": as_json, "junit": as_junit}


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.FORMAL.value,
    show_default=True,
    help="formal: the published result on an NPU. limited: what is there. emulated: on an emulated NPU.",
)
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="text", show_default=True)
def verify(archive: Path, mode: str, form: str) -> None:
    """Judge ARCHIVE again, from its raw bytes.

    Exit codes: 0 pass, 1 fail, 2 no archive there, or one that is being written, 3 inconclusive.
    """
    with reading(archive):
        verdict = judge(archive, Mode(mode))
    click.echo(_FORMATS[form](verdict))
    sys.exit(verdict.exit_code)
