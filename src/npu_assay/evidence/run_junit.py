"""junit.xml of an archive: the manifest's stages, for tools that read JUnit."""

from npu_assay.evidence.junit import ReportCase, render_junit
from npu_assay.evidence.manifest import Manifest, StageRecord, StageStatus


def render_run_junit(manifest: Manifest) -> bytes:
    """The file's bytes, one testcase a stage; of an emulated run the suite's name says so."""
    emulated = " (EMULATED)" if manifest.device.kind == "emulated" else ""
    return render_junit(manifest.pipeline.name + emulated, map(_case, manifest.stages)).encode()


def _case(record: StageRecord) -> ReportCase:
    seconds = record.seconds or 0.0
    match record.status:
        case StageStatus.PASS:
            return ReportCase(record.name, seconds)
        case StageStatus.FAIL | StageStatus.SKIPPED:
            return ReportCase(record.name, seconds, failure=f"{record.status}: {record.reason}")
        case StageStatus.INCONCLUSIVE | StageStatus.INTERRUPTED:
            return ReportCase(record.name, seconds, error=f"{record.status}: {record.reason}")
        case StageStatus.NOT_APPLICABLE | StageStatus.NOT_RUN:
            return ReportCase(record.name, seconds, skipped=f"{record.status}: {record.reason}")
