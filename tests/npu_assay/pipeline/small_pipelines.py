"""Pipelines of tiny commands, run with the project's own Python."""

import io
import os
import sys
import sysconfig
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from npu_assay.evidence.archive import Archive, create_archive
from npu_assay.evidence.manifest import DeviceRecord, DieRecord, EnvironmentRecord, Manifest
from npu_assay.pipeline.definition import Pipeline
from npu_assay.pipeline.progress import progress_on
from npu_assay.pipeline.runner import Runner, RunPlan
from npu_assay.pipeline.selection import apply_settings, choose_stages
from npu_assay.source.record import SourceRecord

SOURCE = SourceRecord(
    kind="lock",
    given="vllm-ascend 0.18.0 of project",
    commit=None,
    dirty=None,
    sha256=None,
    patches=(),
    tree_sha256="2" * 64,
    files=1,
    version="0.18.0",
    version_from="the lock",
    notes=(),
)

ONE_DIE = DeviceRecord(
    kind="emulated", dies=(DieRecord(npu_id=0, chip_id=0, logical_id=0),), visible_devices="0"
)


class ProjectEnvironment:
    """The project's own Python as a stage environment: stages of these tests need no torch."""

    python = Path(sys.executable)
    site_packages = Path(sysconfig.get_path("purelib"))
    vllm_ascend = site_packages / "vllm_ascend"

    def __init__(self, unbuilt: str = "") -> None:
        self._unbuilt = unbuilt

    def unbuilt(self) -> str:
        return self._unbuilt

    def variables(self) -> dict[str, str]:
        # Plug-ins of the project's own tests only slow down the pytest of a stage.
        return {**os.environ, "FROM_THE_ENVIRONMENT": "yes", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@dataclass
class Running:
    """Runs small pipelines into fresh archives."""

    folder: Path
    output: io.StringIO = field(default_factory=io.StringIO)
    archive: Archive | None = None

    def plan(self, *stages: dict, choose=(), settings=(), **changes) -> RunPlan:
        """A plan for stages given as in a pipeline file, short of what all have in common."""
        tables = [{"command": ["{python}", "-c", "pass"], "timeout": 30.0} | stage for stage in stages]
        pipeline = Pipeline.model_validate({"name": "demo", "stage": tables})
        plan = RunPlan(
            pipeline=pipeline,
            pipeline_sha256="0" * 64,
            environment=EnvironmentRecord(name="project", lock_sha256="1" * 64),
            chosen=choose_stages(pipeline, choose),
            settings=apply_settings(pipeline, settings),
            device=ONE_DIE,
            source=SOURCE,
            tree=self.folder / "tree",
            grace=0.3,
            settle=0.3,
        )
        return replace(plan, **changes)

    def run(
        self, plan: RunPlan, *, stop=lambda: False, archive: Archive | None = None, unbuilt: str = ""
    ) -> Manifest:
        self.archive = archive or create_archive(self.folder / "run")
        progress = progress_on(Console(file=self.output, width=200))
        return Runner(plan, ProjectEnvironment(unbuilt), self.archive, progress, stop).run()

    def log(self, stage: str) -> bytes:
        assert self.archive is not None
        return self.archive.stage_log(stage).read_bytes()
