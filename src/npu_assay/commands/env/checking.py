"""`npu-assay env check` and `env edit-triton`: what is installed, against the lock."""

from pathlib import Path

import click

from npu_assay.commands.device_option import device_option, variant_kind
from npu_assay.diagnosis import Level
from npu_assay.environment import triton_edit
from npu_assay.environment.drift.look import Look, look_at, look_at_other
from npu_assay.environment.drift.report import DriftReport, report
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, Kind, Lock, load_lock
from npu_assay.environment.variant import Variant
from npu_assay.environment.venv import other_python
from npu_assay.errors import AssayError, UnusableError, UsageError

_venv = click.option(
    "--venv",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A virtual environment of your own, instead of npu-assay's.",
)
_python = click.option(
    "--python", type=click.Path(path_type=Path), metavar="PATH", help="Any Python of your own, likewise."
)


@click.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@device_option(help_="The variant to compare with; auto: the NPU's where there is an NPU.")
@_venv
@_python
@click.option(
    "--deep", is_flag=True, help="Read every byte of every file, not sizes and a few hashes (a minute)."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (src/npu_assay/schemas/env-check.schema.json)."
)
def check(name: str, wanted: str, venv: Path | None, python: Path | None, deep: bool, as_json: bool) -> None:
    """Every difference between an environment and its lock.

    Exits 0 when all is as the lock says (what it does not name is a warning), 1 when something is not, 4 when
    the environment is not installed.
    """
    lock, kind = load_lock(name), variant_kind(wanted)
    other = other_python(venv, python)
    look = _own(lock, kind) if other is None else look_at_other(Variant.of(lock, kind), other)
    found = report(look, deep=deep)
    click.echo(found.model_dump_json(indent=2) if as_json else _text(found))
    if found.drifted:
        problems = sum(difference.level is Level.PROBLEM for difference in found.differences)
        raise AssayError(f"{look.site_packages}: {problems} differences from the lock {name}")


def _text(found: DriftReport) -> str:
    lines = []
    for difference in found.differences:
        lines.append(f"{difference.level:<8} {difference.message}")
        if difference.advice:
            lines.append(f"         -> {difference.advice}")
    count = len(found.differences)
    lines.append(
        f"{found.environment} ({found.kind}): {count or 'no'} difference{'' if count == 1 else 's'}"
        f" in {found.site_packages}"
    )
    return "\n".join(lines)


def _own(lock: Lock, kind: Kind) -> Look:
    environment = Environment.of(lock, kind)
    if not environment.is_made():
        raise UnusableError(
            f"environment {lock.name} is not installed in {environment.root}; type:"
            f" {environment.variant.install_command}, or name a venv of your own with --venv"
        )
    return look_at(environment)


@click.command("edit-triton")
@_venv
@_python
def edit_triton(venv: Path | None, python: Path | None) -> None:
    """Remove set_device_limit from triton-ascend 3.2.0.

    In a venv of your own, as env install does in npu-assay's.
    """
    other = other_python(venv, python)
    if other is None:
        raise UsageError("name the venv with --venv or its Python with --python")
    changed = triton_edit.apply(other.site_packages)
    click.echo(f"{other.site_packages}: {'edited' if changed else 'was edited already'}")
