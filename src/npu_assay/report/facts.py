"""What was run, in a few lines: environment, vllm-ascend, device, model, machine, commits, departures."""

import shlex
from dataclasses import dataclass

from npu_assay.evidence.manifest import DeviceRecord, Manifest, ModelRecord, StageRecord
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
    environment, project, host = manifest.environment, manifest.project, manifest.host
    took = seconds(max(0.0, (manifest.finished - manifest.started).total_seconds()))
    commit = "outside of a git checkout" if project.commit is None else f"commit {project.commit}"
    changes = " and uncommitted changes" if project.dirty else ""
    return (
        Fact("Pipeline", manifest.pipeline.name, (f"sha256 {manifest.pipeline.sha256}",)),
        Fact("Environment", environment.name, (f"lock sha256 {environment.lock_sha256}",)),
        _source(manifest.source),
        _device(manifest.device),
        _model(manifest.model),
        Fact("Started", f"{manifest.started:%Y-%m-%d %H:%M:%S} UTC, took {took}", _interrupted(manifest)),
        Fact(
            "Host",
            f"{host.system}, {host.machine}, {_number(host.cpus, 'CPU')}, {size(host.memory_bytes)}",
            (f"kernel {host.kernel}",),
        ),
        Fact("Run by", f"npu-assay {project.version}, Python {project.python}", (commit + changes,)),
    )


def _interrupted(manifest: Manifest) -> tuple[str, ...]:
    return ("interrupted before its end",) if manifest.interrupted else ()


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


def _device(device: DeviceRecord) -> Fact:
    dies = [f"{die.name or 'a die'}, {die.place}, bus {die.bus_id or 'unknown'}" for die in device.dies]
    names = sorted({die.name for die in device.dies if die.name})
    text = f"{device.kind}: {_number(len(device.dies), 'die')}" + (f" ({', '.join(names)})" if names else "")
    if device.visible_devices is not None:
        dies.append(f"ASCEND_RT_VISIBLE_DEVICES={device.visible_devices}")
    return Fact("Device", text, tuple(dies))


def _model(model: ModelRecord | None) -> Fact:
    if model is None:
        return Fact("Model", "the pipeline's own")
    total = size(sum(file.size for file in model.files.values()))
    text = f"{model.model_type}: {', '.join(model.architectures) or 'no architecture named'}"
    return Fact("Model", text, (model.path, f"{_number(len(model.files), 'file')}, {total}"))


def _number(of: int, one: str, several: str = "") -> str:
    return f"{count(of)} {one if of == 1 else several or one + 's'}"


def departures(manifest: Manifest) -> tuple[Departure, ...]:
    """What a sceptic asks for first: where the run is another one than its names make believe."""
    environment, source = manifest.environment, manifest.source
    found = [Departure(name, why) for name, why in environment.deviations.items()]
    found += [Departure(name, f"left out: {why}") for name, why in environment.absent.items()]
    found += [Departure(name, "its sha256 is not recorded") for name in environment.unverified]
    found += [
        Departure(file, f"compiled here, sha256 {sha256}") for file, sha256 in environment.rebuilt.items()
    ]
    found += [Departure(name, note) for name, notes in environment.notes.items() for note in notes]
    found += [Departure("vllm-ascend", note) for note in source.notes]
    return tuple(found)


def command_line(stage: StageRecord) -> str:
    """What a shell would be given."""
    return shlex.join(stage.command)


def settings(stage: StageRecord) -> str:
    """All of them in a line."""
    return ", ".join(f"{key} = {value}" for key, value in stage.settings.items())
