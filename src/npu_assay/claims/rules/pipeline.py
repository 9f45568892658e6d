"""The stages that the manifest describes are those of the pipeline, which is the published one."""

from collections.abc import Iterator
from datetime import timedelta

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.published_input import PublishedInput
from npu_assay.claims.rules.stage_commands import check_commands
from npu_assay.evidence.manifest import Manifest, Setting, StageRecord, StageStatus
from npu_assay.pipeline.contract import judge_stage
from npu_assay.pipeline.definition import Pipeline, Stage, load_pipeline
from npu_assay.pipeline.dies import dies_of
from npu_assay.pipeline.process import End, Ended
from npu_assay.pipeline.selection import changed_settings
from npu_assay.pipeline.shards import stages_of_shard

PIPELINE = Evidence("inputs/pipeline.toml")
#: Seconds by which a stage's end may be seen late, and by which two rounded times may differ.
_LATE, _ROUNDING = 5.0, 0.1
#: A stage that runs goes on after one that ended so, or that was left out on request.
_GOES_ON = (StageStatus.PASS, StageStatus.INCONCLUSIVE, StageStatus.NOT_RUN)
_ENDED = (StageStatus.PASS, StageStatus.INCONCLUSIVE)


class PipelineRule(Rule):
    """inputs/pipeline.toml is what the manifest was made from, and this checkout's; the stages followed it.

    Reads inputs/pipeline.toml, this checkout's ci/pipelines, and what each stage left; holds the manifest's
    stages, their order, settings, commands, needs, dies, exit codes, times and status against them. A stage's
    own results are judged by other rules. It can't know whether a command was really run: what it printed is
    all that there is.
    """

    name = "pipeline"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        record = case.manifest.pipeline
        kept = PublishedInput(
            copy=case.archive.root / PIPELINE.file,
            place=PIPELINE,
            sha256=record.sha256,
            said=case.in_manifest("pipeline", "sha256"),
            published=case.checkout.pipeline(record.name),
        )
        yield from kept.judge(self)
        if not kept.copy.is_file():
            return
        pipeline, _ = load_pipeline(kept.copy)
        problems = 0
        for finding in self._problems(case, pipeline):
            problems += 1
            yield finding
        if not problems:
            message = f"{len(pipeline.stage)} stages: order, settings, commands, needs, times and status fit"
            yield self.passed(message, PIPELINE, case.in_manifest("stages"))

    def _problems(self, case: Case, pipeline: Pipeline) -> Iterator[Finding]:
        manifest = case.manifest
        if pipeline.name != manifest.pipeline.name:
            where = case.in_manifest("pipeline", "name")
            message = f"the pipeline is {pipeline.name}, the manifest says {manifest.pipeline.name}"
            yield self.failed(message, PIPELINE, where)
        names, expected = [stage.name for stage in manifest.stages], pipeline.stage_names
        if names != expected:
            yield self.failed(
                f"the manifest's stages are {', '.join(names)}; the pipeline's {', '.join(expected)}",
                case.in_manifest("stages"),
                PIPELINE,
            )
            return
        for stage, record in zip(pipeline.stage, manifest.stages, strict=True):
            for key, problem in _of_stage(case, stage, record):
                where = case.in_manifest("stages", stage.name, key)
                yield self.failed(f"{stage.name}: {problem}", where, PIPELINE)
        settings = {record.name: record.settings for record in manifest.stages}
        if manifest.changed_settings != changed_settings(pipeline, settings):
            changed = ", ".join(changed_settings(pipeline, settings)) or "none"
            said = ", ".join(manifest.changed_settings) or "none"
            yield self.failed(
                f"settings that differ from the pipeline's are {changed}, the manifest says {said}",
                case.in_manifest("changed_settings"),
                PIPELINE,
            )
        yield from self._order(case)
        yield from self._shard(case, pipeline)
        for name, problem in check_commands(case, pipeline):
            yield self.failed(f"{name}: {problem}", case.in_manifest("stages", name, "command"), PIPELINE)

    def _order(self, case: Case) -> Iterator[Finding]:
        """One stage at a time, in the pipeline's order."""
        before: StageRecord | None = None
        for record in case.manifest.stages:
            if record.started is None:
                continue
            if before is not None and before.started is not None:
                ended = before.started + timedelta(seconds=(before.seconds or 0) - _ROUNDING)
                if record.started < ended:
                    where = case.in_manifest("stages", record.name, "started")
                    yield self.failed(f"{record.name}: started before {before.name} had ended", where)
            before = record

    def _shard(self, case: Case, pipeline: Pipeline) -> Iterator[Finding]:
        shard = case.manifest.shard
        if shard is None:
            return
        own = stages_of_shard(pipeline, shard)
        for record in case.manifest.stages:
            if record.name not in own and record.status is not StageStatus.NOT_RUN:
                where = case.in_manifest("stages", record.name, "status")
                message = f"{record.name}: {record.status}, but shard {shard} does not run it"
                yield self.failed(message, where, PIPELINE)


def _of_stage(case: Case, stage: Stage, record: StageRecord) -> Iterator[tuple[str, str]]:
    """What is wrong with the record: the key concerned, and the problem."""
    yield from _settings(stage, record)
    if record.started is None and record.exit_code is None and not record.command:
        yield from _not_started(case.manifest, stage, record)
        return
    if record.started is None or record.seconds is None or not record.command:
        yield "status", f"{record.status}, but it has no start, no time or no command"
        return
    if record.status is StageStatus.INTERRUPTED and not case.manifest.interrupted:
        yield "status", "interrupted, but the run was not"
    for need in stage.needs:
        needed = case.manifest.stage(need)
        if needed is not None and needed.status not in _GOES_ON:
            yield "status", f"{record.status}, though it needs {need}, which is {needed.status}"
    there, wanted = len(case.manifest.device.dies), _dies(stage, record)
    if wanted > there:
        yield "status", f"{record.status}, though it needs {wanted} dies and the run had {there}"
    if record.status not in _ENDED:
        return
    if record.seconds > stage.timeout + _LATE:
        yield "seconds", f"{record.status} in {record.seconds:g} s, its time limit is {stage.timeout:g} s"
    ended = Ended(End.EXITED, record.exit_code, record.seconds)
    status, reason = judge_stage(stage, ended, case.archive)
    if status is not record.status:
        why = f": {reason}" if reason else ""
        yield "status", f"{record.status}, but what it left makes it {status}{why}"


def _settings(stage: Stage, record: StageRecord) -> Iterator[tuple[str, str]]:
    types = {key: type(default).__name__ for key, default in stage.settings.items()} | stage.optional
    for key in sorted(stage.settings.keys() - record.settings.keys()):
        yield "settings", f"setting {key} is missing, the pipeline says {stage.settings[key]}"
    for key, value in record.settings.items():
        if key not in types:
            yield "settings", f"{key} is no setting of it"
        elif not _is_of(value, types[key]):
            yield "settings", f"setting {key} is {value!r}, expected a value of type {types[key]}"


def _is_of(value: Setting, type_name: str) -> bool:
    # JSON writes 4.0 and 4 alike in some hands: a whole number is a float, a bool is no number.
    return type(value).__name__ == type_name or (type_name == "float" and type(value) is int)


def _not_started(manifest: Manifest, stage: Stage, record: StageRecord) -> Iterator[tuple[str, str]]:
    """A stage without a command, a start or an exit code."""
    match record.status:
        case StageStatus.PASS | StageStatus.INCONCLUSIVE | StageStatus.INTERRUPTED:
            yield "status", f"{record.status}, but it was not started"
        case StageStatus.NOT_APPLICABLE:
            needed = [manifest.stage(need) for need in stage.needs]
            if _dies(stage, record) <= len(manifest.device.dies) and not any(
                one is not None and one.status is StageStatus.NOT_APPLICABLE for one in needed
            ):
                yield "status", f"{record.status}, but there were dies enough, and so were what it needs"
        case _:
            return


def _dies(stage: Stage, record: StageRecord) -> int:
    return dies_of(stage, {stage.name: record.settings})
