"""One screen for a person: what is wrong first, each with what mends it; then, by group, what is fine.

Colour only helps: every line says with a word or a sign what its colour says.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from npu_assay.diagnosis import Level
from npu_assay.doctor.report import DiagnosisRecord, DoctorReport
from npu_assay.wording import counted

_SIGN = {Level.PROBLEM: "x", Level.WARNING: "!", Level.NOTE: "-", Level.GOOD: "+"}
_STYLE = {Level.PROBLEM: "bold red", Level.WARNING: "yellow", Level.NOTE: "cyan", Level.GOOD: "green"}


def show(report: DoctorReport, console: Console) -> None:
    """Print the report. Lines are never cut: an advice is there to be copied."""
    width = max(len(group.name) for group in report.groups)
    for line in _lines(report, width):
        console.print(line, highlight=False, soft_wrap=True)


def _lines(report: DoctorReport, width: int) -> Iterator[Text]:
    kind = "an emulated NPU" if report.device_kind == "emulated" else "an NPU"
    yield Text(f"{report.environment} on {kind}", style="bold")
    for level in (Level.PROBLEM, Level.WARNING):
        for group in report.groups:
            for diagnosis in group.diagnoses:
                if diagnosis.level is level:
                    yield from _line(group.name, diagnosis, width)
    for group in report.groups:
        for diagnosis in group.diagnoses:
            if diagnosis.level in (Level.NOTE, Level.GOOD):
                yield from _line(group.name, diagnosis, width)
    yield _conclusion(report)


def _line(group: str, diagnosis: DiagnosisRecord, width: int) -> Iterator[Text]:
    sign, style = _SIGN[diagnosis.level], _STYLE[diagnosis.level]
    yield Text.assemble((f"{sign} {group:<{width}}  ", style), diagnosis.message)
    if diagnosis.advice:
        yield Text.assemble(f"{'':<{width + 4}}", ("do: ", "bold"), diagnosis.advice)


def _conclusion(report: DoctorReport) -> Text:
    if report.problems:
        return Text(
            f"{counted(report.problems, 'problem')}, {counted(report.warnings, 'warning')}", "bold red"
        )
    if report.warnings:
        return Text(f"no problem, {counted(report.warnings, 'warning')}", style="yellow")
    return Text("no problem", style="green")
