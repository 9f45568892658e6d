"""Run a pipeline's stages in an environment and leave a sealed archive."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.device.visible import RT_VISIBLE_DEVICES
from npu_assay.environment.lock import DEVICE_WORD
from npu_assay.errors import AssayError, UnusableError
from npu_assay.evidence import archive as archives
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.device_state import read_device_state
from npu_assay.evidence.image import ImageRecord
from npu_assay.evidence.loaded import read_loaded
from npu_assay.evidence.manifest import (
    DeviceRecord,
    EnvironmentRecord,
    Manifest,
    ModelRecord,
    PipelineRecord,
    ProjectRecord,
    ShardRecord,
    StageRecord,
    StageStatus,
    write_manifest,
)
from npu_assay.evidence.plog import keep_plog
from npu_assay.evidence.provenance import host_record, project_record
from npu_assay.evidence.run_junit import render_run_junit
from npu_assay.evidence.stage_inputs import StageInputs
from npu_assay.pipeline.clock import RunClock
from npu_assay.pipeline.command import fill_placeholders
from npu_assay.pipeline.contract import inputs_of, judge_stage
from npu_assay.pipeline.definition import Pipeline, Stage
from npu_assay.pipeline.dies import dies_of
from npu_assay.pipeline.folder_limit import FolderLimit
from npu_assay.pipeline.process import End, Limits, run_to_log
from npu_assay.pipeline.progress import Progress
from npu_assay.pipeline.run_folders import RunFolders
from npu_assay.pipeline.selection import Settings, changed_settings
from npu_assay.pipeline.stage_environment import StageEnvironment
from npu_assay.project import ADAPTATIONS, SUITES
from npu_assay.source.record import SourceRecord

#: Kept free for the manifest and the checksums of a run that fills the disk.
_RESERVE_BYTES = 1 << 20
_MAKE_ROOM = "make room or choose another disk with --out"


@dataclass(frozen=True)
class RunPlan:
    """What to run."""

    pipeline: Pipeline
    pipeline_sha256: str
    environment: EnvironmentRecord
    chosen: frozenset[str]
    """Names of the stages to run; the others are recorded as `not run`."""
    settings: Settings
    device: DeviceRecord
    source: SourceRecord
    tree: Path
    """The sources of the run's vllm-ascend."""
    shard: ShardRecord | None = None
    """Which part of the pipeline `chosen` is, where the run is divided."""
    locks: tuple[int, ...] = ()
    """Descriptors of the dies' locks. Stages inherit them, so that a die is free when nothing runs on it."""
    model: ModelRecord | None = None
    """None: the suites make a tiny one."""
    image: ImageRecord | None = None
    """None outside of npu-assay's images."""
    model_infos: Path | None = None
    """See `pipeline.run_folders`."""
    grace: float = 10.0
    settle: float = 3.0
    """See `pipeline.process.Limits`."""


class Runner:
    """One run of a plan. Once `stop` answers true, the running stage is ended and no other starts."""

    def __init__(
        self,
        plan: RunPlan,
        environment: StageEnvironment,
        archive: Archive,
        progress: Progress,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._plan = plan
        self._environment = environment
        self._variables = environment.variables()
        if plan.device.visible_devices is not None:
            self._variables[RT_VISIBLE_DEVICES] = plan.device.visible_devices
        self._archive = archive
        self._folders = RunFolders(archive.work, plan.model_infos)
        self._progress = progress
        self._stop = stop
        self._clock = RunClock()
        self._records: dict[str, StageRecord] = {}
        self._fatal = ""
        self._interrupted = False

    def run(self) -> Manifest:
        """Run the stages in order and seal the archive.

        A full disk ends the run: what was done so far is sealed, for which space was kept, or the archive is
        removed; then UnusableError is raised.
        """
        project = project_record()  # now: the checkout may be another at the end
        try:
            _reserve(self._archive)
            for stage in self._plan.pipeline.stage:
                self._records[stage.name] = record = self._outcome(stage)
                self._progress.stage_ended(record)
            manifest = self._finish(project)
        except OSError as error:
            archives.discard(self._archive)
            raise UnusableError(
                f"{self._archive.root}: the archive can't be written ({error.strerror}) and was removed; "
                f"{_MAKE_ROOM}"
            ) from error
        if self._fatal:
            raise UnusableError(f"{self._fatal}; the run ended there, {self._archive.root} is sealed so far")
        return manifest

    def _outcome(self, stage: Stage) -> StageRecord:
        """Run the stage, or say why not."""
        settings = self._plan.settings[stage.name]
        if stage.name not in self._plan.chosen:
            reason = f"not a stage of shard {self._plan.shard}" if self._plan.shard else "not asked for"
            return StageRecord(name=stage.name, settings=settings, status=StageStatus.NOT_RUN, reason=reason)
        if not self._fatal and self._stop():
            self._interrupted = True
        if self._fatal or self._interrupted:
            reason = self._fatal or "the run was interrupted"
            return StageRecord(name=stage.name, settings=settings, status=StageStatus.NOT_RUN, reason=reason)
        if obstacle := self._obstacle(stage):
            return StageRecord(name=stage.name, settings=settings, status=obstacle[0], reason=obstacle[1])
        try:
            return self._run_stage(stage)
        except OSError as error:
            self._fatal = f"stage {stage.name}: {error.filename}: {error.strerror}; {_MAKE_ROOM}"
        except UnusableError as error:
            self._fatal = f"stage {stage.name}: {error}"
        return StageRecord(name=stage.name, settings=settings, status=StageStatus.FAIL, reason=self._fatal)

    def _obstacle(self, stage: Stage) -> tuple[StageStatus, str] | None:
        needed, there = dies_of(stage, self._plan.settings), len(self._plan.device.dies)
        if needed > there:
            return StageStatus.NOT_APPLICABLE, f"needs {needed} dies, this run has {there}"
        for need in stage.needs:
            status = self._records[need].status
            if status is StageStatus.NOT_APPLICABLE:
                return status, f"needs {need}, which is not applicable"
            if status not in (StageStatus.PASS, StageStatus.INCONCLUSIVE, StageStatus.NOT_RUN):
                return StageStatus.SKIPPED, f"needs {need}: {status}"
        if stage.in_environment and (unbuilt := self._environment.unbuilt()):
            return StageStatus.SKIPPED, f"{unbuilt}, and another one must not take its place"
        return None

    def _run_stage(self, stage: Stage) -> StageRecord:
        self._progress.stage_started(stage.name)
        folders = self._folders
        folders.scratch(stage.name).mkdir()
        command = fill_placeholders(stage.command, self._placeholders(stage))
        started = self._clock.now()
        ended = run_to_log(
            command,
            folder=folders.scratch(stage.name),
            variables=self._variables | folders.variables(stage.name) | self._stage_variables(stage),
            log=self._archive.stage_log(stage.name),
            limits=Limits(stage.timeout, stage.log_limit, self._plan.grace, self._plan.settle),
            keep_open=self._plan.locks,
            work=FolderLimit(folders.work, stage.work_limit),
            stop=self._stop,
            tick=self._progress.tick,
        )
        archives.remove(folders.scratch(stage.name))
        if ended.end is End.WORK_LIMIT:
            archives.remove(folders.caches)  # or the next stage would be ended for it
        if ended.end is End.LOG_UNWRITABLE:
            self._fatal = f"stage {stage.name}: its log can't be written: {ended.detail}; {_MAKE_ROOM}"
        self._interrupted |= ended.end is End.INTERRUPTED
        status, reason = judge_stage(stage, ended, self._archive)
        if special := self._remove_special_files():
            status, reason = (
                StageStatus.FAIL,
                f"left {special} in the archive, which is no regular file; removed",
            )
        if status is StageStatus.FAIL:
            keep_plog(self._archive, stage.name, folders.plog(stage.name))
        archives.remove(folders.plog(stage.name))
        return StageRecord(
            name=stage.name,
            status=status,
            reason=reason,
            command=tuple(command),
            settings=self._plan.settings[stage.name],
            exit_code=ended.exit_code,
            started=started,
            seconds=round(ended.seconds, 3),
            left_behind=ended.left_behind,
            inputs=self._inputs(stage),
        )

    def _placeholders(self, stage: Stage) -> dict[str, tuple[str, ...]]:
        return {
            "python": (str(self._environment.python),),
            # -I: the environment's PYTHONPATH is not for the project's own Python.
            "assay": (sys.executable, "-I", "-m", "npu_assay"),
            "suites": (str(SUITES),),
            "junit": (str(self._archive.stage_junit(stage.name)),),
            "archive": (str(self._archive.root),),
            "site": (str(self._environment.site_packages),),
            "plugin": (str(ADAPTATIONS),),
            "tree": (str(self._plan.tree),),
            "vllm_ascend": (str(self._environment.vllm_ascend),),
            "environment": (self._plan.environment.name,),
            "device": (DEVICE_WORD[self._plan.device.kind],),
        }

    def _stage_variables(self, stage: Stage) -> dict[str, str]:
        model = self._plan.model.path if self._plan.model else None
        settings = self._folders.settings(stage.name)
        settings.write_text(json.dumps(self._plan.settings[stage.name] | {"model": model}))
        return {
            "NPU_ASSAY_ARCHIVE": str(self._archive.root),
            "NPU_ASSAY_RESULTS": str(self._archive.results),
            "NPU_ASSAY_STAGE": stage.name,
            "NPU_ASSAY_SETTINGS": str(settings),
            "NPU_ASSAY_DEVICE_KIND": self._plan.device.kind,
        }

    def _remove_special_files(self) -> str:
        """Remove what an archive can't hold; returns the first one's name, or nothing.

        The work folder is gone before the seal, and caches may hold links.
        """
        work = self._archive.work
        found = archives.special_files(self._archive.root)
        special = [path for path in found if work not in path.parents]
        for path in special:
            archives.remove(path)
        return str(special[0].relative_to(self._archive.root)) if special else ""

    def _device_states(self) -> dict[str, object]:
        return {
            "before": read_device_state(self._archive.device),
            "after": read_device_state(self._archive.device_after),
        }

    def _inputs(self, stage: Stage) -> StageInputs | None:
        """Of a stage that has ended; a file that can't be used has failed it, if it had not failed anyway."""
        try:
            return inputs_of(stage, self._archive)
        except AssayError:
            return None

    def _finish(self, project: ProjectRecord) -> Manifest:
        """Write junit.xml, manifest.json and SHA256SUMS, in this order."""
        archives.remove(self._archive.work)
        manifest = Manifest(
            pipeline=PipelineRecord(name=self._plan.pipeline.name, sha256=self._plan.pipeline_sha256),
            shard=self._plan.shard,
            environment=self._plan.environment,
            source=self._plan.source,
            device=self._plan.device.model_copy(update=self._device_states()),
            loaded=read_loaded(self._archive.environment),
            changed_settings=changed_settings(self._plan.pipeline, self._plan.settings),
            model=self._plan.model,
            image=self._plan.image,
            project=project,
            host=host_record(),
            started=self._clock.started,
            finished=self._clock.now(),
            interrupted=self._interrupted,
            stages=tuple(self._records.values()),
        )
        write_atomically(self._archive.junit, render_run_junit(manifest))
        write_manifest(self._archive.manifest, manifest)
        archives.seal(self._archive)
        return manifest


def _reserve(archive: Archive) -> None:
    """Take the space that sealing needs; it is given back with the work folder."""
    with (archive.work / "reserve").open("wb") as file:
        file.write(bytes(_RESERVE_BYTES))
