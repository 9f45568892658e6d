import io

from rich.console import Console

from npu_assay.evidence.manifest import StageRecord, StageStatus
from npu_assay.pipeline.progress import progress_on


def shown(*, terminal: bool) -> str:
    output = io.StringIO()
    progress = progress_on(Console(file=output, width=100, force_terminal=terminal, color_system=None))
    progress.stage_started("unit")
    progress.tick(0.5)
    progress.tick(12.5)
    progress.stage_ended(
        StageRecord(name="unit", status=StageStatus.FAIL, reason="1 failed: t[a]", seconds=13)
    )
    progress.stage_ended(StageRecord(name="later", status=StageStatus.SKIPPED, reason="needs unit: fail"))
    return output.getvalue()


def test_plain_lines_where_there_is_no_terminal():
    assert shown(terminal=False) == (
        "unit ...\nunit fail in 13.0 s: 1 failed: t[a]\nlater skipped: needs unit: fail\n"
    )


def test_a_live_line_with_the_elapsed_time_on_a_terminal():
    output = shown(terminal=True)
    assert "\x1b" in output
    assert "unit 12 s" in output
    assert "unit fail in 13.0 s: 1 failed: t[a]\n" in output
