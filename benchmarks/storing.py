"""How long the runner takes to store what a command prints, and to run stages one after the other."""

import io
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from contest import Contest
from rich.console import Console

from npu_assay.errors import AssayError
from npu_assay.evidence.archive import create_archive, remove
from npu_assay.evidence.manifest import DeviceRecord, EnvironmentRecord, StageStatus
from npu_assay.pipeline.definition import Pipeline
from npu_assay.pipeline.process import Limits, run_to_log
from npu_assay.pipeline.progress import progress_on
from npu_assay.pipeline.runner import Runner, RunPlan
from npu_assay.pipeline.selection import apply_settings, choose_stages
from npu_assay.source.record import SourceRecord

_LINE = "what a stage prints, with a time, a level, and a name in front; about as long as a line is"
_STAGES = 4


def output_contests(scratch: Path, megabytes: int) -> Iterator[Contest]:
    """The same bytes from the same command: stored by the runner, and by tee."""
    source = scratch / "output"
    size = megabytes * 1_000_000
    lines = (f"{number:012d} {_LINE}\n".encode() for number in count())
    with source.open("wb") as file:
        while size > 0:
            size -= file.write(next(lines)[:size])
    for name, command in (
        ("in large pieces (cat)", f"cat {source}"),
        ("in pieces of 4 KiB (dd)", f"dd if={source} bs=4k status=none"),
    ):
        yield Contest(
            f"storing {megabytes} MB of output {name}, against `| tee`",
            ours=partial(_stored, command, scratch),
            theirs=partial(_teed, command, scratch),
            most=1.1,
        )


def _stored(command: str, scratch: Path) -> float:
    log = scratch / "stored"
    began = time.perf_counter()
    ended = run_to_log(
        ["sh", "-c", command], folder=scratch, variables=os.environ, log=log, limits=Limits(600, 1 << 40)
    )
    seconds = time.perf_counter() - began
    if ended.exit_code != 0 or log.stat().st_size != (scratch / "output").stat().st_size:
        raise AssayError(f"{command}: {ended}, {log.stat().st_size} bytes stored")
    log.unlink()
    return seconds


def _teed(command: str, scratch: Path) -> float:
    log = scratch / "teed"
    began = time.perf_counter()
    subprocess.run(["sh", "-c", f"{command} | tee {log} >/dev/null"], check=True)
    seconds = time.perf_counter() - began
    log.unlink()
    return seconds


def pipeline_contest(scratch: Path, stage_seconds: float) -> Contest:
    """A pipeline of stages that take so long and print 1 MB each, and the commands alone."""
    text = scratch / "text"
    text.write_text((_LINE + "\n") * 11_000)
    command = ["sh", "-c", f"cat {text}; sleep {stage_seconds}"]
    names = [f"stage-{number}" for number in range(_STAGES)]
    pipeline = Pipeline.model_validate(
        {"name": "bare", "stage": [{"name": name, "command": command, "timeout": 600} for name in names]}
    )
    return Contest(
        f"a run of {_STAGES} stages of {stage_seconds:g} s, archive and all, against their commands",
        ours=lambda: _run(pipeline, scratch / "run"),
        theirs=lambda: _commands([command] * _STAGES, scratch / "bare.log"),
        most=1.05,
    )


class _Project:
    """The project's own Python in place of an environment."""

    python = Path(sys.executable)
    site_packages = Path(sysconfig.get_path("purelib"))
    vllm_ascend = site_packages / "vllm_ascend"

    def unbuilt(self) -> str:
        return ""

    def variables(self) -> dict[str, str]:
        return dict(os.environ)


def _run(pipeline: Pipeline, root: Path) -> float:
    plan = RunPlan(
        pipeline=pipeline,
        pipeline_sha256="0" * 64,
        environment=EnvironmentRecord(name="project", lock_sha256="0" * 64),
        chosen=choose_stages(pipeline, ()),
        settings=apply_settings(pipeline, ()),
        device=DeviceRecord(kind="emulated", dies=(), visible_devices=None),
        source=_SOURCE,
        tree=root,
    )
    began = time.perf_counter()
    archive = create_archive(root)
    manifest = Runner(plan, _Project(), archive, progress_on(Console(file=io.StringIO()))).run()
    seconds = time.perf_counter() - began
    remove(root)
    if any(stage.status is not StageStatus.PASS for stage in manifest.stages):
        raise AssayError(f"the stages were to pass: {manifest.stages}")
    return seconds


_SOURCE = SourceRecord(
    kind="lock",
    given="none",
    commit=None,
    dirty=None,
    sha256=None,
    patches=(),
    tree_sha256="0" * 64,
    files=1,
    version="0",
    version_from="nothing",
    notes=(),
)


def _commands(commands: list[list[str]], log: Path) -> float:
    began = time.perf_counter()
    with log.open("wb") as file:
        for command in commands:
            subprocess.run(command, stdout=file, stderr=file, check=True)
    return time.perf_counter() - began
