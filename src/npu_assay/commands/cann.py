"""`npu-assay cann`: what of CANN is installed, and installing what a lock names."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import click

from npu_assay.cache import cache_root
from npu_assay.cann.agreement import Expected
from npu_assay.cann.checks.look import Look
from npu_assay.cann.diagnose import judge
from npu_assay.cann.discovery import (
    ATB_VARIABLE,
    TOOLKIT_VARIABLES,
    USUAL_ROOT,
    Places,
    find_installed,
    root_of,
    usual_roots,
)
from npu_assay.cann.host import HostProvider
from npu_assay.cann.run_packages.installation import Installation
from npu_assay.cann.run_packages.sources import Sources
from npu_assay.cann.variables import search_path
from npu_assay.device.host import join
from npu_assay.device.ops_chip import ops_chip
from npu_assay.device.query import NpuSmi
from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.environment.run_packages import wanted_packages
from npu_assay.errors import AssayError, UnusableError, UsageError
from npu_assay.evidence.cann_files import keep_files


@click.group()
def cann() -> None:
    """Find CANN, judge what is installed, install what an environment wants."""


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
    diagnoses = judge(
        Look(places, os.environ, Expected(command="npu-assay cann install"), site_packages, installed)
    )
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


@cann.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@click.option(
    "--from",
    "words",
    multiple=True,
    metavar="DIR|FILE|URL",
    help="Where the vendor's run packages are, under the names that the lock has; repeatable."
    "  [default: the lock's address]",
)
@click.option(
    "--install-path",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Below which folder.  [default: /usr/local/Ascend for root, else ~/Ascend]",
)
@click.option(
    "--accept-licence", is_flag=True, help="The vendor's licence (EULA), which --quiet accepts for you."
)
def install(name: str, words: tuple[str, ...], install_path: Path | None, accept_licence: bool) -> None:
    """Install the toolkit, ops and NNAL that the environment NAME wants.

    From the vendor's run packages, each with the sha256 of the lock, in their order. What is there already
    stays: of the lock's version and build nothing is installed again, others are left alone. Build and
    version are read from the installed files afterwards.
    """
    environment = Environment.of(load_lock(name), "hardware")
    host = HostProvider()
    if install_path is None and host.ready(environment.target):
        click.echo(f"nothing to do: {host.choice(environment.target)}")
        return
    root = (install_path or _default_root()).absolute()
    folder = cache_root() / "run-packages"
    installation = Installation(
        wanted=wanted_packages(environment.variant, platform.machine()),
        places=Places(root),
        sources=Sources.of(words, downloads=folder),
        log=folder / f"install-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.log",
        chip=_ops_chip_here(),
        licence_accepted=accept_licence,
    )
    if not installation.run(_say):
        click.echo(f"nothing to do: all of it is below {root}")
    tree = HostProvider(variables={}, places=(Places(root),)).provide(environment.target, click.echo)
    if root not in usual_roots(os.environ):
        click.echo(f"in every shell that is to use it: . {tree.cann_script}")
    elif named := [variable for variable in TOOLKIT_VARIABLES if os.environ.get(variable)]:
        click.echo(f"{named[0]} still chooses another in this shell: unset {' '.join(named)} {ATB_VARIABLE}")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _default_root() -> Path:
    """As the vendor's installers choose it."""
    return USUAL_ROOT if os.geteuid() == 0 else Path.home() / "Ascend"


def _ops_chip_here() -> str | None:
    """The chip of this host's NPUs, where npu-smi tells."""
    path = search_path(os.environ.get("PATH"), *map(str, Places().npu_smi))
    try:
        return ops_chip(join(NpuSmi({**os.environ, "PATH": path}).answers(health="none")).dies)
    except AssayError:  # no driver yet, or an output that nobody knows: doctor tells
        return None


def _line(diagnosis: Diagnosis) -> str:
    advice = f" -> {diagnosis.advice}" if diagnosis.advice else ""
    return f"{diagnosis.level} {diagnosis.check}: {diagnosis.message}{advice}"
