"""What the two sides ran on and with: every recorded difference, and which of them could be a cause.

A *fact* is a name and a value of one group. Facts say what a run was made of, never where it lay: paths are
taken from the part that does not depend on the machine's folders.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from npu_assay.claims.case import Case
from npu_assay.claims.emulation import sign_of_emulation
from npu_assay.claims.rules.identity import IDENTITY, identity_line
from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import parse_object
from npu_assay.evidence.manifest import Manifest
from npu_assay.strict import Strict

#: Components that are CANN: runs with other builds of them are not compared in performance.
CANN_COMPONENTS = ("cann", "cann-ops", "nnal")
KIND = "kind"
LOADED_CANN = "CANN that was loaded"
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
    SETTING = "setting"
    PIPELINE = "pipeline"
    HOST = "host"
    PROJECT = "npu-assay"


class Fact(Strict):
    """One thing that is recorded of a run."""

    group: Group
    name: str
    value: str


class Difference(Strict):
    """A fact that is not the same; None on a side that does not have it."""

    group: Group
    name: str
    a: str | None
    b: str | None


class EnvironmentComparison(Strict):
    """The section environment."""

    same: int
    """How many facts are the same."""
    differences: tuple[Difference, ...]
    causes: tuple[str, ...]
    """What a difference in results may come from: a setting, a version; whatever goes together once."""

    @property
    def attribution(self) -> str:
        """What a change is put down to: one cause where it is the only difference, else none."""
        match self.causes:
            case ():
                return "nothing that is recorded differs"
            case (cause,):
                return f"the only difference that is recorded: {cause}"
            case causes:
                named = ", ".join(causes)
                return f"{len(causes)} things differ, so a change is put down to none of them: {named}"

    def differs(self, group: Group) -> bool:
        """Whether any fact of the group differs."""
        return any(difference.group is group for difference in self.differences)


def read_facts(case: Case) -> tuple[Fact, ...]:
    """Every fact of a run. Raises UsageError for an environment.json that can't be read."""
    return tuple(
        Fact(group=group, name=name, value=value)
        for group, name, value in (
            *_of_manifest(case.manifest),
            *_of_device(case),
            *_of_environment_file(case),
        )
    )


_Fact = tuple[Group, str, str]


def _of_manifest(manifest: Manifest) -> Iterator[_Fact]:
    yield Group.PIPELINE, "name", manifest.pipeline.name
    yield Group.PIPELINE, "sha256", manifest.pipeline.sha256
    environment = manifest.environment
    yield Group.LOCK, "name", environment.name
    yield Group.LOCK, "sha256", environment.lock_sha256
    for component, version in environment.versions.items():
        yield (Group.CANN if component in CANN_COMPONENTS else Group.VERSION), component, version
    for component, build in environment.builds.items():
        if component in CANN_COMPONENTS:
            yield Group.CANN, f"{component} build", build
        else:
            yield Group.BUILD, component, build
    for component in environment.absent:
        yield Group.VERSION, component, "absent"
    for file, sha256 in environment.rebuilt.items():
        yield Group.BUILD, f"rebuilt {file}", sha256
    yield from _of_source(manifest)
    yield from _of_model(manifest)
    for stage in manifest.stages:
        for name, value in stage.settings.items():
            yield Group.SETTING, f"{stage.name}.{name}", _setting(value)
    host = manifest.host
    yield Group.HOST, "system", host.system
    yield Group.HOST, "kernel", host.kernel
    yield Group.HOST, "machine", host.machine
    yield Group.HOST, "cpus", str(host.cpus)
    yield Group.HOST, "memory", f"{host.memory_bytes} bytes"
    project = manifest.project
    yield Group.PROJECT, "version", project.version
    yield Group.PROJECT, "python", project.python
    commit = "no git" if project.commit is None else project.commit
    yield Group.PROJECT, "commit", f"{commit}{' and changes' * bool(project.dirty)}"


def _setting(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_source(manifest: Manifest) -> Iterator[_Fact]:
    source = manifest.source
    yield Group.SOURCE, "version", source.version
    yield Group.SOURCE, "tree", source.tree_sha256
    if source.commit is not None:
        yield Group.SOURCE, "commit", f"{source.commit}{' and changes' * bool(source.dirty)}"
    for number, patch in enumerate(source.patches, start=1):
        yield Group.SOURCE, f"patch {number}", f"{patch.name} {patch.sha256}"


def _of_model(manifest: Manifest) -> Iterator[_Fact]:
    model = manifest.model
    if model is None:
        yield Group.MODEL, "model", "the pipeline's own"
        return
    yield Group.MODEL, "model", f"{model.model_type}: {', '.join(model.architectures)}"
    for name, file in model.files.items():
        yield Group.MODEL, name, file.sha256


def _of_device(case: Case) -> Iterator[_Fact]:
    emulated = sign_of_emulation(case) is not None
    yield Group.DEVICE, KIND, "emulated" if emulated else "hardware"
    dies = case.manifest.device.dies
    yield Group.DEVICE, "dies", str(len(dies))
    for name in sorted({die.name for die in dies if die.name is not None}):
        yield Group.DEVICE, "name", name
    identity = identity_line(case)
    if identity is not None:
        yield Group.CANN, LOADED_CANN, identity.text.removeprefix(IDENTITY).strip()


def _of_environment_file(case: Case) -> Iterator[_Fact]:
    """Packages that were loaded: version, and from where."""
    path = case.archive.environment
    if not path.is_file():
        return
    values = parse_object(path.read_bytes(), str(path))
    try:
        python = values.get("python", {}).get("version")
        if python is not None:
            yield Group.VERSION, "python that ran", str(python)
        for package in values.get("packages", []):
            name, version, place = (str(package[key]) for key in ("name", "version", "path"))
            yield Group.VERSION, f"{name}{_LOADED_VERSION}", version
            yield Group.LOADED, name, _place(place)
    except (AttributeError, LookupError, TypeError) as error:
        raise UsageError(f"{path}: expected packages with name, version and path, found {error!r}") from error


def _place(path: str) -> str:
    """Where a file lies, without what differs from machine to machine."""
    return _CACHE_FOLDER.sub(lambda found: f"{found[1]}/" if found[1] else "", path, count=1)


def compare_environments(a: Sequence[Fact], b: Sequence[Fact]) -> EnvironmentComparison:
    """Every difference, by group and then in the order in which A and B have it."""
    ours, theirs = ({(fact.group, fact.name): fact.value for fact in side} for side in (a, b))
    both = dict.fromkeys((*ours, *theirs))
    order = list(Group)
    differences = sorted(
        (
            Difference(group=group, name=name, a=ours.get((group, name)), b=theirs.get((group, name)))
            for group, name in both
            if ours.get((group, name)) != theirs.get((group, name))
        ),
        key=lambda difference: order.index(difference.group),
    )
    return EnvironmentComparison(
        same=len(both) - len(differences),
        differences=tuple(differences),
        causes=tuple(dict.fromkeys(_causes(differences))),
    )


#: Of a group whose facts are one cause together.
_TOGETHER = {
    Group.DEVICE: "the device",
    Group.CANN: "CANN",
    Group.LOCK: "the lock",
    Group.BUILD: "what is built",
    Group.LOADED: "where packages are loaded from",
    Group.SOURCE: "vllm-ascend",
    Group.MODEL: "the model",
    Group.PIPELINE: "the pipeline",
    Group.HOST: "the host",
    Group.PROJECT: "npu-assay",
}
_LOADED_VERSION = " that was loaded"


def _causes(differences: Sequence[Difference]) -> Iterator[str]:
    """A setting and a version are each a cause; the facts of any other group are one together.

    What follows from another difference is none of its own: a lock and a pipeline file are where versions and
    settings stand, a loaded version and its place are those of the lock or of the run's vllm-ascend, and a
    module is built for the torch that is there.
    """
    groups = {difference.group for difference in differences}
    told = {difference.name for difference in differences if difference.group is Group.VERSION}
    told |= {"vllm-ascend"} if Group.SOURCE in groups else set()
    for difference in differences:
        group, name = difference.group, difference.name
        match group:
            case Group.VERSION | Group.LOADED if name.removesuffix(_LOADED_VERSION) in told - {name}:
                continue
            case Group.LOADED if f"{name}{_LOADED_VERSION}" in told:
                continue
            case Group.BUILD if "torch" in told:
                continue
            case Group.LOCK if groups & {Group.VERSION, Group.BUILD, Group.CANN, Group.DEVICE}:
                continue
            case Group.PIPELINE if Group.SETTING in groups:
                continue
            case Group.VERSION | Group.SETTING:
                yield f"{group} {name} ({difference.a or 'none'}, {difference.b or 'none'})"
            case _:
                yield _TOGETHER[group]


def against_performance(
    a: Sequence[Fact], b: Sequence[Fact], comparison: EnvironmentComparison
) -> tuple[str, ...]:
    """Why the performance of the two sides can't be compared: other kinds of device, other CANN."""
    reasons = [
        f"{difference.name}: {difference.a or 'none'} in A, {difference.b or 'none'} in B"
        for difference in comparison.differences
        if difference.group is Group.CANN or (difference.group, difference.name) == (Group.DEVICE, KIND)
    ]
    for side, facts in (("A", a), ("B", b)):
        if not any(fact.name == LOADED_CANN for fact in facts):
            reasons.append(f"which CANN {side} had loaded is not recorded: its stage was not run")
    return tuple(reasons)
