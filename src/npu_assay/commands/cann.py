"""`npu-assay cann`: what of CANN is installed."""

import os
from pathlib import Path

import click

from npu_assay.cann.agreement import Expected
from npu_assay.cann.checks.look import Look
from npu_assay.cann.diagnose import judge
from npu_assay.cann.discovery import Places, find_installed, root_of
from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.errors import AssayError, UnusableError, UsageError
from npu_assay.evidence.cann_files import keep_files


@click.group()
def cann() -> None:
    """Find CANN and judge what is installed."""


@cann.command()
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder laid out as /usr/local/Ascend.  [default: that of ASCEND_HOME_PATH, else /usr/local/Ascend]",
)
@click.option(
    "--site-packages",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the torch is that loads this CANN: its C++ ABI decides which libraries of ATB fit.",
)
@click.option(
    "--raw", type=click.Path(path_type=Path), metavar="DIR", help="Keep the version files, as they are, here."
)
def check(root: Path | None, site_packages: Path | None, raw: Path | None) -> None:
    """Judge the CANN that the variables of this shell mean.

    Exits 1 if it can't work, 4 if there is none.
    """
    places = Places(root or root_of(os.environ))
    installed = find_installed(places, os.environ)
    diagnoses = judge(Look(places, os.environ, Expected(), site_packages, installed))
    for diagnosis in diagnoses:
        click.echo(_line(diagnosis))
    toolkit = installed.toolkit
    if raw is not None and toolkit is not None:
        try:
            keep_files(installed, toolkit, places.machine, raw)
        except OSError as error:
            raise UsageError(f"--raw {raw}: can't be written ({error.strerror})") from error
    problems = [diagnosis for diagnosis in diagnoses if diagnosis.level is Level.PROBLEM]
    click.echo(f"findings: {len(diagnoses)}, problems: {len(problems)}")
    if toolkit is None:
        raise UnusableError(f"no CANN in the variables of this shell, nor below {places.root}")
    if problems:
        raise AssayError(problems[0].message)


def _line(diagnosis: Diagnosis) -> str:
    advice = f" -> {diagnosis.advice}" if diagnosis.advice else ""
    return f"{diagnosis.level} {diagnosis.check}: {diagnosis.message}{advice}"
