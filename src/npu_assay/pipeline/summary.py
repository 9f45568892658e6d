"""What a run came to: a table for people, an exit code for machines."""

from rich.markup import escape
from rich.table import Table

from npu_assay.evidence.manifest import Manifest, StageStatus
from npu_assay.pipeline.progress import STYLES

_BAD = (StageStatus.FAIL, StageStatus.SKIPPED)
_UNSURE = (StageStatus.INCONCLUSIVE, StageStatus.INTERRUPTED)


def exit_code_of(manifest: Manifest) -> int:
    """1: a stage failed or was skipped. 3: one is inconclusive, none passed, or the run was interrupted."""
    statuses = [stage.status for stage in manifest.stages]
    if any(status in _BAD for status in statuses):
        return 1
    if (
        manifest.interrupted
        or StageStatus.PASS not in statuses
        or any(status in _UNSURE for status in statuses)
    ):
        return 3
    return 0


def summary_table(manifest: Manifest) -> Table:
    """One row a stage."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("stage", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for stage in manifest.stages:
        seconds = "" if stage.seconds is None else f"{stage.seconds:.1f}"
        table.add_row(escape(stage.name), f"[{STYLES[stage.status]}]{stage.status}[/]", seconds)
    return table


def summary_line(manifest: Manifest) -> str:
    """One line; that of an emulated run says so."""
    counts = ", ".join(
        f"{number} {status}"
        for status in StageStatus
        if (number := sum(stage.status is status for stage in manifest.stages))
    )
    kind = "EMULATED run" if manifest.device.kind == "emulated" else "run"
    part = f", shard {manifest.shard}" if manifest.shard else ""
    return (
        f"{kind} of {manifest.pipeline.name}{part}: {counts}{', interrupted' if manifest.interrupted else ''}"
    )
