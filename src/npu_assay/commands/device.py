"""`npu-assay device`: NPUs, live or from stored npu-smi output."""

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from npu_assay.device.health import Assessment, assess
from npu_assay.device.query import NpuSmi
from npu_assay.device.stored import read_outputs
from npu_assay.errors import AssayError, UsageError

_FROM = click.option(
    "--from",
    "stored",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Stored npu-smi output instead of a live npu-smi: a file, or a folder of .txt files; repeatable.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def device() -> None:
    """List NPUs and judge their health."""


@device.command("list")
@_FROM
@_JSON
def list_devices(stored: tuple[Path, ...], as_json: bool) -> None:
    """List the devices."""
    assessment = _assess(stored, raw=None)
    _print(assessment, as_json, lambda: click.echo(f"npu-smi {assessment.npu_smi_version}"))


@device.command()
@_FROM
@click.option(
    "--raw", type=click.Path(path_type=Path), help="Keep npu-smi's raw output and devices.json here."
)
@_JSON
def health(stored: tuple[Path, ...], raw: Path | None, as_json: bool) -> None:
    """Judge the devices: exit 1 if one is not healthy, 4 if npu-smi can't be used."""
    assessment = _assess(stored, raw)
    if raw is not None:
        (raw / "devices.json").write_text(_as_json(assessment) + "\n")

    def verdict() -> None:
        for problem in assessment.problems:
            click.echo(problem)
        click.echo(f"devices: {len(assessment.devices)}, problems: {len(assessment.problems)}")

    _print(assessment, as_json, verdict)
    if not assessment.healthy:
        raise AssayError(f"not healthy: {assessment.problems[0]}")


def _assess(stored: tuple[Path, ...], raw: Path | None) -> Assessment:
    if stored and raw is not None:
        raise UsageError("--raw keeps what a live npu-smi says; it has no use with --from")
    return assess(read_outputs(stored) if stored else NpuSmi(os.environ, raw).outputs())


def _as_json(assessment: Assessment) -> str:
    document: dict[str, Any] = {"schema_version": 1} | dataclasses.asdict(assessment)
    return json.dumps(document | {"healthy": assessment.healthy}, indent=2)


def _print(assessment: Assessment, as_json: bool, conclude: Callable[[], None]) -> None:
    if as_json:
        click.echo(_as_json(assessment))
        return
    for die in assessment.devices:
        logic = "-" if die.logic_id is None else die.logic_id
        click.echo(
            f"NPU {die.npu_id} chip {die.chip_id} logic id {logic}: {die.name}, {die.health}, "
            f"HBM {die.hbm_total_mib} MiB, {die.bus_id}"
        )
    conclude()
