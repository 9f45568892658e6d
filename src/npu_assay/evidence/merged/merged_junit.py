"""junit.xml of a merged archive: a testcase for each stage, and for each shard of what all of them ran."""

from collections.abc import Iterator, Sequence

from npu_assay.evidence.junit import ReportCase, render_junit
from npu_assay.evidence.merged.part import Part
from npu_assay.evidence.run_junit import case_of, suite_of


def render_merged_junit(parts: Sequence[Part]) -> str:
    """In the order of the pipeline, then of the shards."""
    parts = sorted(parts, key=lambda part: part.shard.index)
    return render_junit(suite_of(parts[0].manifest), list(_cases(parts)))


def _cases(parts: Sequence[Part]) -> Iterator[ReportCase]:
    first = parts[0]
    for name in (stage.name for stage in first.manifest.stages):
        for part in parts:
            if (stage := part.ran.get(name)) is not None:
                shared = name in first.every_shard
                yield case_of(stage, f"{name} (shard {part.shard})" if shared else name)
