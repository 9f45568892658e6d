"""`npu-assay doctor`: what is installed and what hardware is there, against the lock."""

from pathlib import Path

import click
from rich.console import Console

from npu_assay.commands.device_option import device_option, variant_kind
from npu_assay.doctor.examination import examine
from npu_assay.doctor.machine import DEV, Machine, kind_here
from npu_assay.doctor.presentation import show
from npu_assay.doctor.report import DoctorReport
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.environment.venv import other_python
from npu_assay.errors import AssayError


@click.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@device_option(help_="auto: an NPU where there are its nodes or its driver, else the emulated one.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="A CANN laid out as /usr/local/Ascend, instead of the one that a run would use.",
)
@click.option(
    "--dev",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=DEV,
    show_default=True,
    metavar="DIR",
    help="Where the device nodes are.",
)
@click.option(
    "--venv",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A venv of your own, instead of npu-assay's.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (src/npu_assay/schemas/doctor.schema.json)."
)
def doctor(name: str, wanted: str, root: Path | None, dev: Path, venv: Path | None, as_json: bool) -> None:
    """What is wrong here, worst first, each with what mends it.

    Looks at the packages, the CANN and the NPUs that a run of the environment NAME (cann900-vllm018 where
    none is given) would use, and changes nothing. Exits 1 when there is a problem; a warning is none.
    """
    kind = kind_here(dev) if wanted == "auto" else variant_kind(wanted)
    environment = Environment.of(load_lock(name), kind)
    machine = Machine(environment, root and root.absolute(), dev, other_python(venv, None))
    report = DoctorReport.of(name, kind, examine(machine.looks))
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    else:
        show(report, Console())
    if report.problems:
        worst = next(d for group in report.groups for d in group.diagnoses if d.level == "problem")
        raise AssayError(f"{report.problems} to mend, first: {worst.message}")
