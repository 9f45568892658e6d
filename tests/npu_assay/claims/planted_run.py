"""What the runner itself would write of a planted run: the manifest, from a real lock and a real pipeline."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.environment.lock import DEVICE_WORD, read_lock
from npu_assay.environment.variant import Variant
from npu_assay.evidence.environment_record import environment_record
from npu_assay.evidence.manifest import (
    DeviceRecord,
    DieRecord,
    Manifest,
    PipelineRecord,
    Setting,
    StageRecord,
    StageStatus,
)
from npu_assay.evidence.provenance import host_record, project_record
from npu_assay.pipeline.command import fill_placeholders
from npu_assay.pipeline.definition import Pipeline, Stage, load_pipeline
from npu_assay.source.record import SourceRecord

LOCK, PIPELINE = "cann900-vllm018", "kv-offload"
STARTED = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
SECONDS = 20.0
"""That each stage took."""
ARCHIVE, PROJECT = "/home/me/runs/1", "/home/me/npu-assay"


def read_pipeline(name: str = PIPELINE) -> Pipeline:
    """This checkout's."""
    return load_pipeline(OWN.pipeline(name))[0]


def stage_names() -> tuple[str, ...]:
    """Of the pipeline."""
    return tuple(read_pipeline().stage_names)


def settings_of(stage: str) -> dict[str, Setting]:
    """The defaults that the pipeline gives the stage."""
    return next(dict(one.settings) for one in read_pipeline().stage if one.name == stage)


@dataclass(frozen=True)
class Places:
    """Where the environment of a run of that kind is."""

    kind: str

    @property
    def environment(self) -> str:
        return f"/home/me/.cache/npu-assay/environments/{LOCK}-{self.kind}-0123456789abcdef/venv"

    @property
    def python(self) -> str:
        return f"{self.environment}/bin/python"

    @property
    def site(self) -> str:
        return f"{self.environment}/lib/python3.11/site-packages"

    @property
    def vllm_ascend(self) -> str:
        return f"{self.site}/vllm_ascend"

    def of_placeholders(self, stage: str) -> dict[str, tuple[str, ...]]:
        return {
            "python": (self.python,),
            "assay": (f"{PROJECT}/.venv/bin/python", "-I", "-m", "npu_assay"),
            "suites": (f"{PROJECT}/src/npu_assay/suites",),
            "junit": (f"{ARCHIVE}/stages/{stage}.junit.xml",),
            "archive": (ARCHIVE,),
            "site": (self.site,),
            "plugin": (f"{PROJECT}/src/vllm_ascend_params",),
            "tree": ("/home/me/.cache/npu-assay/trees/46047bfcc103c4d0/tree",),
            "vllm_ascend": (self.vllm_ascend,),
            "environment": (LOCK,),
            "device": (DEVICE_WORD[self.kind],),
        }


def changed_checkout(folder: Path, checkout: Checkout, change: Callable[[str], str]) -> Checkout:
    """A checkout like that one, but for its lock."""
    changed = Checkout(environments=folder / "ci/environments", pipelines=checkout.pipelines)
    changed.environments.mkdir(parents=True, exist_ok=True)
    changed.lock(LOCK).write_text(change(checkout.lock(LOCK).read_text()))
    return changed


def device_of(kind: str, *npus: int) -> DeviceRecord:
    """The record of a run that took these dies, by default the one that the archive's npu-smi shows."""
    dies = tuple(
        DieRecord(npu_id=npu, chip_id=0, logical_id=npu, bus_id=f"0000:C{npu + 1}:00.0", name="910B3")
        for npu in npus or (0,)
    )
    visible = ",".join(str(die.logical_id) for die in dies)
    return DeviceRecord(kind=kind, dies=dies, visible_devices=visible)


def manifest_of(kind: str, checkout: Checkout, pipeline_name: str = PIPELINE) -> Manifest:
    """Of a run whose stages all passed; `source` is for the caller to fill in."""
    lock = read_lock(checkout.lock(LOCK))
    pipeline, data = load_pipeline(checkout.pipeline(pipeline_name))
    host = host_record()
    return Manifest(
        pipeline=PipelineRecord(name=pipeline.name, sha256=hashlib.sha256(data).hexdigest()),
        environment=environment_record(Variant.of(lock, kind), host.machine, {}),
        source=SourceRecord.model_construct(),
        device=device_of(kind),
        model=None,
        project=project_record(),
        host=host,
        started=STARTED,
        finished=STARTED + timedelta(seconds=SECONDS * len(pipeline.stage) + 1),
        interrupted=False,
        stages=tuple(_stage(stage, number, kind) for number, stage in enumerate(pipeline.stage)),
    )


def _stage(stage: Stage, number: int, kind: str) -> StageRecord:
    return StageRecord(
        name=stage.name,
        status=StageStatus.PASS,
        command=tuple(fill_placeholders(stage.command, Places(kind).of_placeholders(stage.name))),
        settings=stage.settings,
        exit_code=0,
        started=STARTED + timedelta(seconds=number * SECONDS),
        seconds=SECONDS - 0.5,
    )
