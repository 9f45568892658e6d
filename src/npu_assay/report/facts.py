"""What was run, in a few lines: environment, vllm-ascend, device, model, inputs, machine, departures."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.evidence.device_state import DieState
from npu_assay.evidence.image import ImageRecord
from npu_assay.evidence.manifest import DeviceRecord, DieRecord, Manifest, ModelRecord, StageRecord
from npu_assay.report.legible import count, seconds, size
from npu_assay.source.record import SourceRecord


@dataclass(frozen=True)
class Fact:
    """A line of what was run."""

    label: str
    """One of ours: plain letters."""
    text: str
    """What comes first in a reader's mind."""
    details: tuple[str, ...] = ()
    """Hashes, commits and the like."""


@dataclass(frozen=True)
class Departure:
    """What was not as upstream, the lock or the pipeline has it."""

    subject: str
    why: str


def facts(manifest: Manifest) -> tuple[Fact, ...]:
    """Those of a run."""
    environment = manifest.environment
    found = [
        Fact("Pipeline", manifest.pipeline.name, tuple(_pipeline(manifest))),
        Fact("Environment", environment.name, (f"lock sha256 {environment.lock_sha256}",)),
        *([] if manifest.image is None else [_image(manifest.image)]),
        _source(manifest.source),
        _device(manifest.device),
        _model(manifest.model),
    ]
    inputs = tuple(line for stage in manifest.stages for line in _inputs(stage))
    if inputs:
        found.append(Fact("Inputs", _number(len(inputs), "model or dataset", "models and datasets"), inputs))
    return (*found, _time(manifest), _host(manifest), _project(manifest))


def _pipeline(manifest: Manifest) -> Iterator[str]:
    if manifest.shard is not None:
        yield f"shard {manifest.shard}: its part of a divided run"
    yield f"sha256 {manifest.pipeline.sha256}"


def _time(manifest: Manifest) -> Fact:
    took = seconds((manifest.finished - manifest.started).total_seconds())
    details = ("interrupted before its end",) if manifest.interrupted else ()
    return Fact("Started", f"{manifest.started:%Y-%m-%d %H:%M:%S} UTC, took {took}", details)


def _host(manifest: Manifest) -> Fact:
    host = manifest.host
    text = f"{host.system}, {host.machine}, {_number(host.cpus, 'CPU')}, {size(host.memory_bytes)}"
    return Fact("Host", text, (f"kernel {host.kernel}", *([] if host.id is None else [f"id {host.id}"])))


def _project(manifest: Manifest) -> Fact:
    project = manifest.project
    commit = "outside of a git checkout" if project.commit is None else f"commit {project.commit}"
    changes = " and uncommitted changes" if project.dirty else ""
    return Fact("Run by", f"npu-assay {project.version}, Python {project.python}", (commit + changes,))


def _source(source: SourceRecord) -> Fact:
    details = [source.given]
    if source.commit is not None:
        details.append(f"commit {source.commit}" + " and changes" * bool(source.dirty))
    if source.sha256 is not None:
        details.append(f"sha256 {source.sha256}")
    details.append(f"{_number(source.files, 'file')}, tree sha256 {source.tree_sha256}")
    details += [f"patch {patch.name}, sha256 {patch.sha256}" for patch in source.patches]
    patched = f" with {_number(len(source.patches), 'patch', 'patches')}" if source.patches else ""
    return Fact("vllm-ascend", f"{source.version}{patched}", tuple(details))


def _image(image: ImageRecord) -> Fact:
    digest = "digest not given" if image.digest is None else str(image.digest)
    revision = (
        "of no commit that the build was told" if image.revision is None else f"of commit {image.revision}"
    )
    return Fact(
        "Image", f"{image.name}, {digest}", (f"{image.target}, {image.kind}, from {image.base}, {revision}",)
    )


def _device(device: DeviceRecord) -> Fact:
    names = sorted({die.name for die in device.dies if die.name})
    text = f"{device.kind}: {_number(len(device.dies), 'die')}" + (f" ({', '.join(names)})" if names else "")
    details = [line for die in device.dies for line in _die(device, die)]
    if device.visible_devices is not None:
        details.append(f"ASCEND_RT_VISIBLE_DEVICES={device.visible_devices}")
    return Fact("Device", text, tuple(details))


def _die(device: DeviceRecord, die: DieRecord) -> Iterator[str]:
    """Where it is, and how it was before and after the run."""
    yield f"{die.place}, bus {die.bus_id or 'unknown'}"
    for when, states in (("before", device.before), ("after", device.after)):
        for state in states or ():
            if (state.npu_id, state.chip_id) == (die.npu_id, die.chip_id):
                yield f"{when}: {', '.join(_state(state))}"


def _state(state: DieState) -> Iterator[str]:
    yield f"health {state.health or 'unknown'}"
    for value, unit in ((state.temperature, "°C"), (state.power_w, "W")):
        if value is not None:
            yield f"{value:g} {unit}"
    if state.hbm_used_mib is not None and state.hbm_total_mib is not None:
        yield f"{count(state.hbm_used_mib)} of {count(state.hbm_total_mib)} MiB HBM used"
    yield (
        "processes unknown"
        if state.processes is None
        else _number(len(state.processes), "process", "processes")
    )


def _model(model: ModelRecord | None) -> Fact:
    if model is None:
        return Fact("Model", "the pipeline's own")
    total = size(sum(file.size for file in model.files.values()))
    text = f"{model.model_type}: {', '.join(model.architectures) or 'no architecture named'}"
    return Fact("Model", text, (model.path, f"{_number(len(model.files), 'file')}, {total}"))


def _inputs(stage: StageRecord) -> Iterator[str]:
    if stage.inputs is None:
        return
    for model in stage.inputs.models:
        total = size(sum(file.size for file in model.files.values()))
        yield f"{stage.name}: model {model.name}, {_number(len(model.files), 'file')}, {total}"
    for data in stage.inputs.datasets:
        whence = f"from {data.source} at {data.revision}, sha256 {data.sha256}"
        yield f"{stage.name}: {data.name}, {_number(data.rows, 'row')} {whence}"


def departures(manifest: Manifest) -> tuple[Departure, ...]:
    """What a sceptic asks for first: where the run is another one than its names make believe."""
    environment, source = manifest.environment, manifest.source
    found = [
        Departure(name, f"{changed.used}, where the pipeline has {changed.default}")
        for name, changed in manifest.changed_settings.items()
    ]
    found += [Departure(name, why) for name, why in environment.deviations.items()]
    found += [Departure(name, f"left out: {why}") for name, why in environment.absent.items()]
    found += [Departure(name, "its sha256 is not recorded") for name in environment.unverified]
    found += [Departure(file, f"compiled here, sha256 {sha}") for file, sha in environment.rebuilt.items()]
    found += [Departure(name, note) for name, notes in environment.notes.items() for note in notes]
    found += [Departure("vllm-ascend", note) for note in source.notes]
    return tuple(found)


def command_line(stage: StageRecord) -> str:
    """What a shell would be given."""
    return shlex.join(stage.command)


def settings(stage: StageRecord) -> str:
    """All of them in a line."""
    return ", ".join(f"{key} = {value}" for key, value in stage.settings.items())


def _number(of: int, one: str, several: str = "") -> str:
    return f"{count(of)} {one if of == 1 else several or one + 's'}"
