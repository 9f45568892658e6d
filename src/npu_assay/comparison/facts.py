"""What a run was made of and ran on, as facts: a name and a value of one group.

Facts never say where a run lay: paths are taken from the part that does not depend on the machine's folders.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from npu_assay.claims.case import Case
from npu_assay.claims.emulation import sign_of_emulation
from npu_assay.claims.rules.identity import IDENTITY, identity_line
from npu_assay.claims.rules.identity import STAGE as VERSIONS_AND_PATHS
from npu_assay.errors import UsageError
from npu_assay.evidence.document import read_document
from npu_assay.evidence.manifest import Manifest, StageRecord
from npu_assay.strict import Strict

#: Components that are CANN: runs with other builds of them are not compared in performance.
CANN_COMPONENTS = ("cann", "cann-ops", "nnal")
KIND = "kind"
LOADED_CANN = "CANN that was loaded"
#: What follows a component's name in the fact about the version that was imported.
LOADED_VERSION = " that was loaded"
#: In npu-assay's cache: what stands before these is the machine's affair, and so are these keys, which stand
#: for what other facts say. The plug-in's key is its content, which no other fact says.
_CACHE_FOLDER = re.compile(r"^/.*?/(environments|emulator|builds)/[^/]+/|^/.*/(?=adaptations/[0-9a-f]+/)")


class Group(StrEnum):
    """What a fact is about, in the order in which differences are shown."""

    DEVICE = "device"
    CANN = "cann"
    LOCK = "lock"
    VERSION = "version"
    BUILD = "build"
    LOADED = "loaded from"
    SOURCE = "vllm-ascend"
    MODEL = "model"
    DATA = "data"
    SETTING = "setting"
    PIPELINE = "pipeline"
    IMAGE = "image"
    HOST = "host"
    PROJECT = "npu-assay"


class Fact(Strict):
    """One thing that is recorded of a run."""

    group: Group
    name: str
    value: str
    stage: str | None
    """Which stage found it out; None for what the run knew by itself."""


def read_facts(case: Case) -> tuple[Fact, ...]:
    """Every fact of a run. Raises UsageError for an environment.json that can't be read."""
    manifest = case.manifest
    return (
        *_of_device(case),
        *_of_lock(manifest),
        *_of_source(manifest),
        *_of_model(manifest),
        *(fact for stage in manifest.stages for fact in _of_stage(stage)),
        *_of_environment_file(case),
        *_of_run(manifest),
    )


def _fact(group: Group, name: str, value: object, stage: str | None = None) -> Fact:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return Fact(group=group, name=name, value=text, stage=stage)


def _of_device(case: Case) -> Iterator[Fact]:
    emulated = sign_of_emulation(case) is not None
    yield _fact(Group.DEVICE, KIND, "emulated" if emulated else "hardware")
    dies = case.manifest.device.dies
    yield _fact(Group.DEVICE, "dies", len(dies))
    names = sorted({die.name for die in dies if die.name is not None})
    if names:
        yield _fact(Group.DEVICE, "name", ", ".join(names))
    identity = identity_line(case)
    if identity is not None:
        said = identity.text.removeprefix(IDENTITY).strip()
        yield _fact(Group.CANN, LOADED_CANN, said, VERSIONS_AND_PATHS)


def _of_lock(manifest: Manifest) -> Iterator[Fact]:
    environment = manifest.environment
    yield _fact(Group.LOCK, "name", environment.name)
    yield _fact(Group.LOCK, "sha256", environment.lock_sha256)
    for component, version in environment.versions.items():
        yield _fact(Group.CANN if component in CANN_COMPONENTS else Group.VERSION, component, version)
    for component, build in environment.builds.items():
        is_cann = component in CANN_COMPONENTS
        yield _fact(Group.CANN if is_cann else Group.BUILD, f"{component} build", build)
    for component in environment.absent:
        yield _fact(Group.VERSION, component, "absent")
    for file, sha256 in environment.rebuilt.items():
        yield _fact(Group.BUILD, f"rebuilt {file}", sha256)


def _of_source(manifest: Manifest) -> Iterator[Fact]:
    source = manifest.source
    yield _fact(Group.SOURCE, "version", source.version)
    yield _fact(Group.SOURCE, "tree", source.tree_sha256)
    if source.commit is not None:
        yield _fact(Group.SOURCE, "commit", _commit(source.commit, source.dirty))
    for number, patch in enumerate(source.patches, start=1):
        yield _fact(Group.SOURCE, f"patch {number}", f"{patch.name} {patch.sha256}")


def _commit(commit: str | None, dirty: bool | None) -> str:
    return "no git" if commit is None else commit + " and changes" * bool(dirty)


def _of_model(manifest: Manifest) -> Iterator[Fact]:
    model = manifest.model
    if model is None:
        yield _fact(Group.MODEL, "model", "the pipeline's own")
        return
    yield _fact(Group.MODEL, "model", f"{model.model_type}: {', '.join(model.architectures)}")
    for name, file in model.files.items():
        yield _fact(Group.MODEL, name, file.sha256)


def _of_stage(stage: StageRecord) -> Iterator[Fact]:
    """Settings, and what the stage read."""
    for name, value in stage.settings.items():
        yield _fact(Group.SETTING, f"{stage.name}.{name}", value)
    if stage.inputs is None:
        return
    for model in stage.inputs.models:
        for name, file in model.files.items():
            yield _fact(Group.MODEL, f"{stage.name}: {model.name}/{name}", file.sha256, stage.name)
    for data in stage.inputs.datasets:
        for field in ("source", "revision", "rows", "sha256"):
            name = f"{stage.name}: {data.name}, {field}"
            yield _fact(Group.DATA, name, getattr(data, field), stage.name)


def _of_environment_file(case: Case) -> Iterator[Fact]:
    """Python and packages as they were loaded: version, and from where."""
    path = case.archive.environment
    if not path.is_file():
        return
    values = read_document(path, str(path))
    try:
        python = values.get("python", {}).get("version")
        if python is not None:
            yield _fact(Group.VERSION, f"python{LOADED_VERSION}", python, VERSIONS_AND_PATHS)
        for package in values.get("packages", []):
            name, version, file = (str(package[key]) for key in ("name", "version", "path"))
            yield _fact(Group.VERSION, f"{name}{LOADED_VERSION}", version, VERSIONS_AND_PATHS)
            yield _fact(Group.LOADED, name, _place(file), VERSIONS_AND_PATHS)
    except (AttributeError, LookupError, TypeError) as error:
        raise UsageError(f"{path}: expected packages with name, version and path, found {error!r}") from error


def _place(path: str) -> str:
    """Where a file lies, without what differs from machine to machine."""
    return _CACHE_FOLDER.sub(lambda found: f"{found[1]}/" if found[1] else "", path, count=1)


def _of_run(manifest: Manifest) -> Iterator[Fact]:
    """Pipeline, image, host and npu-assay itself."""
    yield _fact(Group.PIPELINE, "name", manifest.pipeline.name)
    yield _fact(Group.PIPELINE, "sha256", manifest.pipeline.sha256)
    image = manifest.image
    if image is not None:
        yield _fact(Group.IMAGE, "target", f"{image.target}, {image.kind}")
        yield _fact(Group.IMAGE, "base", image.base)
        yield _fact(Group.IMAGE, "digest", image.digest or "not given")
    host = manifest.host
    if host.id is not None:
        yield _fact(Group.HOST, "id", host.id)
    for name, value in (
        ("system", host.system),
        ("kernel", host.kernel),
        ("machine", host.machine),
        ("cpus", host.cpus),
        ("memory", f"{host.memory_bytes} bytes"),
    ):
        yield _fact(Group.HOST, name, value)
    project = manifest.project
    yield _fact(Group.PROJECT, "version", project.version)
    yield _fact(Group.PROJECT, "python", project.python)
    yield _fact(Group.PROJECT, "commit", _commit(project.commit, project.dirty))
