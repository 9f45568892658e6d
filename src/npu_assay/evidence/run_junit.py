"""junit.xml of an archive: one testcase a stage, made from manifest.json."""

from npu_assay.evidence.junit import ReportCase, render_junit
from npu_assay.evidence.manifest import Manifest, StageRecord, StageStatus


def render_run_junit(manifest: Manifest) -> bytes:
    """The junit.xml of a run."""
    return render_junit(
        suite_of(manifest), [case_of(stage, stage.name) for stage in manifest.stages]
    ).encode()


def suite_of(manifest: Manifest) -> str:
    """The suite's name: the pipeline's; that of an emulated run says so."""
    return manifest.pipeline.name + (" (EMULATED)" if manifest.device.kind == "emulated" else "")


def case_of(stage: StageRecord, name: str) -> ReportCase:
    """The testcase of a stage; one that is inconclusive is an error."""
    seconds, message = stage.seconds or 0.0, f"{stage.status}: {stage.reason}"
    match stage.status:
        case StageStatus.PASS:
            return ReportCase(name, seconds)
        case StageStatus.FAIL | StageStatus.SKIPPED:
            return ReportCase(name, seconds, failure=message)
        case StageStatus.INCONCLUSIVE | StageStatus.INTERRUPTED:
            return ReportCase(name, seconds, error=message)
        case StageStatus.NOT_APPLICABLE | StageStatus.NOT_RUN:
            return ReportCase(name, seconds, skipped=message)
