"""`npu-assay run`: the main job."""

import hashlib
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

import click
from rich.console import Console

from npu_assay.cache import in_use
from npu_assay.claims.findings import Result
from npu_assay.claims.published import RULES_OF_PIPELINE
from npu_assay.claims.verdict import Verdict
from npu_assay.commands.device_option import device_option
from npu_assay.commands.progress import EchoProgress
from npu_assay.commands.run_dies import device_record, dies_line, require_cann, taken_dies
from npu_assay.commands.run_image import own_image, say_image
from npu_assay.commands.run_model import record_model, say_model
from npu_assay.commands.run_source import build_before, record_source, requested
from npu_assay.commands.source_options import source_options
from npu_assay.device.kind import Wanted, choose_kind
from npu_assay.environment.ascend_binding import rebuilt_files
from npu_assay.environment.ascend_build.request import named_tree, run_source
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, Lock, load_lock
from npu_assay.environment.prune import needed
from npu_assay.errors import InconclusiveError, UnusableError, UsageError
from npu_assay.evidence.archive import Archive, create_archive, discard, write_inputs, writing
from npu_assay.evidence.environment_record import environment_record
from npu_assay.evidence.image import write_image
from npu_assay.evidence.manifest import Manifest, StageStatus
from npu_assay.evidence.provenance import host_record
from npu_assay.model.folder import check_model
from npu_assay.pipeline.definition import find_pipeline, load_pipeline
from npu_assay.pipeline.dies import dies_of_run
from npu_assay.pipeline.interruption import interruptible
from npu_assay.pipeline.progress import progress_on
from npu_assay.pipeline.runner import Runner, RunPlan
from npu_assay.pipeline.selection import apply_settings, choose_stages
from npu_assay.pipeline.shards import read_shard
from npu_assay.pipeline.summary import exit_code_of, summary_line, summary_table
from npu_assay.printable import printable
from npu_assay.project import PIPELINES
from npu_assay.report.derived import derive

DEFAULT_PIPELINE = "kv-offload"


@click.command()
@click.option(
    "--pipeline",
    "pipeline_name",
    default=DEFAULT_PIPELINE,
    show_default=True,
    metavar="NAME|FILE",
    help="One of ci/pipelines, or a .toml file of your own.",
)
@click.option("--environment", "lock_name", default=DEFAULT_ENVIRONMENT, show_default=True, metavar="NAME")
@device_option(help_="auto: the NPU where there is one, else an emulated one.")
@click.option(
    "--stage",
    "stages",
    multiple=True,
    metavar="NAME",
    help="Run only this stage, without those it needs; repeatable. The archive records what was not run.",
)
@click.option(
    "--shard",
    "shard_text",
    metavar="I/N",
    help="Run only the I-th of N parts that take about the same time; `archive merge` joins them.",
)
@click.option(
    "--model",
    "model_folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of a model, instead of the tiny one.",
)
@source_options
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="STAGE.KEY=VALUE",
    help="Change a setting that the pipeline gives this stage; repeatable.",
)
@click.option("--dev", type=click.Path(path_type=Path), default=Path("/dev"), hidden=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="New folder for the archive.  [default: runs/<time>-<pipeline>]",
)
def run(
    pipeline_name: str,
    lock_name: str,
    wanted: str,
    stages: tuple[str, ...],
    shard_text: str | None,
    model_folder: Path | None,
    source: str | None,
    patches: tuple[Path, ...],
    assignments: tuple[str, ...],
    dev: Path,
    out: Path | None,
) -> None:
    """Run a pipeline in an environment and leave an archive of it.

    Exit codes: 0 all good, 1 a stage failed, 2 bad usage, 3 inconclusive or interrupted, 4 the environment,
    the device or the disk can't be used.
    """
    pipeline_file = find_pipeline(pipeline_name, PIPELINES)
    pipeline, pipeline_data = load_pipeline(pipeline_file)
    shard = None if shard_text is None else read_shard(shard_text)
    chosen = choose_stages(pipeline, stages, shard)
    settings = apply_settings(pipeline, assignments)
    lock = load_lock(lock_name)
    _check_pipeline(lock, pipeline_name)
    folder = out or _default_folder(pipeline.name)
    _check_encoding(folder.absolute())
    if model_folder is not None:
        _check_encoding(model_folder.absolute())
    model = None if model_folder is None else check_model(model_folder)
    request = requested(source, patches, pipeline.vllm_ascend, pipeline_file)
    kind, why = choose_kind(cast(Wanted, wanted), dev)
    environment, progress = Environment.of(lock, kind), EchoProgress()
    image = own_image(os.environ, environment.variant)
    if kind == "hardware":  # what is in the way shows before anything is fetched or made
        require_cann(environment)
    named = named_tree(request, environment, progress.note)
    dies = dies_of_run(pipeline, chosen, settings)
    console = Console()
    with ExitStack() as held:
        if kind == "hardware":
            taken = held.enter_context(taken_dies(dies, os.environ, dev))
        archive = create_archive(folder)
        held.enter_context(writing(archive))
        console.print(f"device: {why}", highlight=False, soft_wrap=True)
        say_image(console, image)
        say_model(console, model)
        with _discarded_on_failure(archive):
            write_inputs(archive, lock.data, pipeline_data)
            if image is not None:
                write_image(archive.image, image)
            install(environment, progress)
            of_run = run_source(request, named, environment, progress.note)
            environment = of_run.environment
            record_source(archive, of_run, progress.note)
            build_before(of_run, chosen, progress.note)
            if kind == "emulated":  # the locks are the run's own: so are the dies
                locks = archive.work / "dies.locks"
                taken = held.enter_context(taken_dies(dies, environment.variables(), dev, locks))
            console.print(dies_line(taken), highlight=False, soft_wrap=True)
            plan = RunPlan(
                pipeline=pipeline,
                pipeline_sha256=hashlib.sha256(pipeline_data).hexdigest(),
                environment=environment_record(
                    environment.variant, host_record().machine, rebuilt_files(environment.site_packages)
                ),
                chosen=chosen,
                settings=settings,
                shard=shard,
                device=device_record(kind, taken),
                locks=taken.descriptors,
                source=of_run.tree.record,
                tree=of_run.tree.files,
                model=None if model is None else record_model(console, model),
                image=image,
                model_infos=environment.model_infos,
            )
        with _in_use(environment, of_run.tree.root), interruptible() as interruption:
            shown = progress_on(console)
            try:
                manifest = Runner(plan, environment, archive, shown, lambda: bool(interruption)).run()
            except UnusableError:
                _derive_of_the_rest(archive)
                raise
            verdict = derive(archive.root)
    sys.exit(_conclude(console, archive, manifest, verdict))


def _check_pipeline(lock: Lock, pipeline: str) -> None:
    """Before anything is installed; a file of the user's own is the user's business."""
    if pipeline.endswith(".toml"):
        return
    able = lock.content.pipelines
    if able is not None and pipeline not in able:
        raise UsageError(
            f"pipeline {pipeline} does not run in {lock.name}; type: npu-assay run --environment {lock.name}"
            f" --pipeline {able[0]}"
        )


@contextmanager
def _in_use(environment: Environment, *more: Path) -> Iterator[None]:
    """No env prune, and no installation, takes away what a run needs."""
    with ExitStack() as stack:
        for folder in (*needed(environment.cache, [environment]), *more):
            stack.enter_context(in_use(folder))
        yield


def _check_encoding(path: Path) -> None:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{printable(str(path))}: the path is no UTF-8, which manifest.json has to hold; use another"
        ) from error


def _default_folder(pipeline: str) -> Path:
    return Path("runs") / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{pipeline}"


@contextmanager
def _discarded_on_failure(archive: Archive) -> Iterator[None]:
    """An archive in which nothing was run is none."""
    try:
        yield
    except KeyboardInterrupt as stop:
        discard(archive)
        raise InconclusiveError("interrupted before the first stage; no archive is left") from stop
    except BaseException:
        discard(archive)
        raise


def _derive_of_the_rest(archive: Archive) -> None:
    """Of a run that the disk or the device ended: what was sealed gets its statement, where there is room."""
    if archive.sums.is_file():
        with suppress(OSError):
            derive(archive.root)


def _conclude(console: Console, archive: Archive, manifest: Manifest, verdict: Verdict) -> int:
    """Show what came of it; returns the exit code."""
    say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
    console.print(summary_table(manifest))
    for stage in manifest.stages:
        if stage.status is StageStatus.FAIL and archive.stage_log(stage.name).exists():
            say(f"log of {stage.name}: {archive.stage_log(stage.name)}")
    say(summary_line(manifest))
    if manifest.shard is not None and manifest.shard.count > 1:
        say(
            f"one of {manifest.shard.count} shards: join them with npu-assay archive merge SHARD... --out DIR"
        )
    code = exit_code_of(manifest)
    if manifest.pipeline.name in RULES_OF_PIPELINE and not manifest.partial:
        for finding in verdict.findings:
            if finding.result is Result.FAIL:
                say(f"{finding.rule}: {finding.message}")
        say(verdict.line)
        code = code or verdict.exit_code
        if verdict.exit_code:
            say(
                f"each finding: npu-assay verify --mode {verdict.mode.value} {shlex.quote(str(archive.root))}"
            )
    say(f"report: {archive.root / 'report.html'}")
    say(f"archive: {archive.root}")
    return code
