"""The components that were loaded are those that the lock asks for."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from packaging.version import InvalidVersion, Version

from npu_assay.claims.case import Case, LogLine
from npu_assay.claims.environment_facts import FACTS, BindingFacts, EnvironmentFacts, read_facts
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.environment.lock import read_lock
from npu_assay.evidence.loaded import LoadedRecord

STAGE = "versions-and-paths"
_VLLM_ASCEND = "vllm-ascend"
_LOCK = Evidence("inputs/lock.toml")
_BINDING = "vllm-ascend binding: "
#: The plug-in is in a folder of the cache, and so is a vllm-ascend of the run's own (the rule pipeline sees
#: to it that the commands name that one).
_FROM_ELSEWHERE = ("vllm_ascend_params", _VLLM_ASCEND)


class VersionsRule(Rule):
    """Of each component: the log names one loaded version and file, and it is the version of the lock.

    Reads the log of versions-and-paths, environment.json and inputs/lock.toml; holds the manifest's `loaded`
    and `rebuilt` against them. The suite prints `<distribution> <version> <file>`. A local part (`+cpu`) is a
    build of the same version; that of a vllm-ascend of the run's own says which tree it is, and has to be
    just that. All but the plug-in and the vllm-ascend of a run come from the site-packages of one
    environment. It can't know whether the files of a package are those of its distribution: `env check`
    does, on the host.
    """

    name = "versions"
    version = 3

    def __init__(self, components: tuple[str, ...]) -> None:
        self._components = components

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        for component in self._components:
            yield self._judge(case, component, _lines(case, component))
        facts = read_facts(case)
        yield from self._environment_file(case, facts)
        yield from self._python(case, facts)
        yield from self._places(case, facts)
        yield from self._binding(case, facts)
        yield from self._device(case, facts)

    def _judge(self, case: Case, component: str, lines: list[LogLine]) -> Finding:
        wanted = _wanted(case, component)
        if len(lines) != 1:
            return self.failed(
                f"{component}: {len(lines)} lines name its version and file", case.log_of(STAGE)
            )
        found, path = lines[0].text.split(maxsplit=2)[1:]
        evidence = lines[0].evidence, case.in_manifest("environment", "versions", component)
        if wanted is None or (found != wanted and ("+" in wanted or _public(found) != _public(wanted))):
            return self.failed(f"{component}: {found} was loaded, the run asks for {wanted}", *evidence)
        return self.passed(f"{component} {found} from {path}", *evidence)

    def _environment_file(self, case: Case, facts: EnvironmentFacts) -> Iterator[Finding]:
        """Log, environment.json and manifest name the same files."""
        problems = 0
        for package in facts.packages:
            lines = _lines(case, package.name)
            said = f"{package.name} {package.version} {package.path}"
            if [line.text for line in lines] != [said]:
                problems += 1
                found = "; ".join(line.text for line in lines) or "nothing"
                evidence = FACTS, *(line.evidence for line in lines)
                yield self.failed(f"environment.json says {said!r}, the log {found!r}", *evidence)
        listed = [package.name for package in facts.packages]
        for component in self._components:
            if listed.count(component) != 1:
                problems += 1
                yield self.failed(f"{component}: {listed.count(component)} times in environment.json", FACTS)
        loaded = {
            package.name: LoadedRecord(version=package.version, file=package.path)
            for package in facts.packages
        }
        if case.manifest.loaded != loaded:
            problems += 1
            said_by_manifest = case.manifest.loaded or {}
            names = sorted(
                name
                for name in {*loaded, *said_by_manifest}
                if loaded.get(name) != said_by_manifest.get(name)
            )
            yield self.failed(
                f"the manifest's loaded components are not those of environment.json: {', '.join(names)}",
                case.in_manifest("loaded", *names[:1]),
                FACTS,
            )
        if not problems:
            message = f"log, environment.json and manifest name the same {len(loaded)} packages"
            yield self.passed(message, case.log_of(STAGE), FACTS, case.in_manifest("loaded"))

    def _python(self, case: Case, facts: EnvironmentFacts) -> Iterator[Finding]:
        """The interpreter is the lock's: on hardware the whole version, on the emulator the minor one."""
        found = facts.python.version
        line = f"python {found} {facts.python.executable}"
        lines = [one for one in case.log_lines(STAGE, "python ") if one.text.startswith("python ")]
        if [one.text for one in lines] != [line]:
            said = "; ".join(one.text for one in lines) or "nothing"
            yield self.failed(f"environment.json says {line!r}, the log {said!r}", FACTS, case.log_of(STAGE))
        copy = case.archive.root / _LOCK.file
        if not copy.is_file():  # the rule lock says so
            return
        lock = read_lock(copy)
        exact = lock.content.python
        if found.rpartition(".")[0] != lock.python:
            yield self.failed(f"Python {found} ran, the lock says {exact}", FACTS, _LOCK)
        elif case.manifest.device.kind == "hardware" and found != exact:
            yield self.inconclusive(f"Python {found} ran, the lock says {exact}", FACTS, _LOCK)
        else:
            yield self.passed(f"Python {found}, the lock says {exact}", FACTS, _LOCK)

    def _places(self, case: Case, facts: EnvironmentFacts) -> Iterator[Finding]:
        environment = PurePosixPath(facts.python.executable).parent.parent
        strays = [
            package
            for package in facts.packages
            if package.name not in _FROM_ELSEWHERE and not _is_in_site(package.path, environment)
        ]
        for package in strays:
            yield self.failed(
                f"{package.name} was loaded from {package.path}, which is not in {environment}", FACTS
            )
        if not strays:
            yield self.passed(f"the packages are those of {environment}", FACTS)

    def _binding(self, case: Case, facts: EnvironmentFacts) -> Iterator[Finding]:
        """The compiled module is in the log with its hash, and is the rebuilt one where one has to be."""
        binding, rebuilt = facts.vllm_ascend_binding, case.manifest.environment.rebuilt
        lines = [one for one in case.log_lines(STAGE, _BINDING) if one.text.startswith(_BINDING)]
        where = FACTS, case.log_of(STAGE)
        if len(lines) != 1 or f"{binding.path} (sha256 {binding.sha256})" not in lines[0].text:
            yield self.failed(f"the log does not name {binding.path} with sha256 {binding.sha256}", *where)
        elif case.manifest.source.is_locks and rebuilt != _rebuilt_of(binding):
            yield self.failed(
                f"the compiled module is {binding.path}, {binding.sha256}; rebuilt by the manifest:"
                f" {rebuilt or 'nothing'}",
                *where,
                case.in_manifest("environment", "rebuilt"),
            )
        else:
            yield self.passed(f"{PurePosixPath(binding.path).name} is {binding.sha256}", *where)

    def _device(self, case: Case, facts: EnvironmentFacts) -> Iterator[Finding]:
        device, record = facts.device, case.manifest.device
        line = f"device: {device.count} x {device.name}, {device.kind}"
        lines = [one for one in case.log_lines(STAGE, "device: ") if one.text.startswith("device: ")]
        if [one.text for one in lines] != [line]:
            yield self.failed(f"environment.json says {line!r}, the log does not", FACTS, case.log_of(STAGE))
        elif (device.kind, device.count) != (record.kind, len(record.dies)):
            yield self.failed(
                f"torch saw {line!r}, the manifest has {len(record.dies)} dies, {record.kind}",
                lines[0].evidence,
                case.in_manifest("device"),
            )
        else:
            yield self.passed(line, lines[0].evidence, FACTS, case.in_manifest("device"))


def _is_in_site(path: str, environment: PurePosixPath) -> bool:
    """Whether a file is in one of the venv's site-packages (64-bit ones are `lib64` on some systems)."""
    parts = PurePosixPath(path).parts
    root = environment.parts
    if ".." in parts or parts[: len(root)] != root:
        return False
    return len(parts) > len(root) + 3 and (
        parts[len(root)] in ("lib", "lib64") and parts[len(root) + 2] == "site-packages"
    )


def _rebuilt_of(binding: BindingFacts) -> dict[str, str]:
    """What the manifest has to say of it: file below site-packages -> sha256."""
    if binding.replaces is None:
        return {}
    return {binding.path.rpartition("/site-packages/")[2]: binding.sha256}


def loaded_path(case: Case, component: str) -> str | None:
    """The file of a component that was loaded, by the log; None where it does not say exactly one."""
    if not case.archive.stage_log(STAGE).is_file():
        return None
    lines = _lines(case, component)
    return lines[0].text.split(maxsplit=2)[2] if len(lines) == 1 else None


def _wanted(case: Case, component: str) -> str | None:
    own = case.manifest.source
    if component == _VLLM_ASCEND and not own.is_locks:
        return own.version
    return case.manifest.environment.versions.get(component)


def _lines(case: Case, component: str) -> list[LogLine]:
    return [line for line in case.log_lines(STAGE, component) if _names(line, component)]


def _names(line: LogLine, component: str) -> bool:
    words = line.text.split(maxsplit=2)
    return len(words) == 3 and words[0] == component and words[2].startswith("/")


def _public(version: str) -> str:
    try:
        return Version(version).public
    except InvalidVersion:
        return version
