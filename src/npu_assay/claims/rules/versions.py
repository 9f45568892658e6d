"""The components that were loaded are those that the lock asks for."""

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from npu_assay.claims.case import Case, LogLine
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule

STAGE = "versions-and-paths"
_VLLM_ASCEND = "vllm-ascend"


class VersionsRule(Rule):
    """Of each component: the log names one loaded version and file, and it is the version of the lock.

    The suite prints `<distribution> <version> <file>`. A local part (`+cpu`) is a build of the same version;
    that of a vllm-ascend of the run's own says which tree it is, and has to be just that.
    """

    name = "versions"
    version = 2

    def __init__(self, components: tuple[str, ...]) -> None:
        self._components = components

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        for component in self._components:
            yield self._judge(case, component, _lines(case, component))

    def _judge(self, case: Case, component: str, lines: list[LogLine]) -> Finding:
        wanted = _wanted(case, component)
        if len(lines) != 1:
            return self.failed(
                f"{component}: {len(lines)} lines name its version and file", case.log_of(STAGE)
            )
        found, path = lines[0].text.split(maxsplit=2)[1:]
        evidence = lines[0].evidence, Evidence("manifest.json")
        if wanted is None or (found != wanted and ("+" in wanted or _public(found) != _public(wanted))):
            return self.failed(f"{component}: {found} was loaded, the run asks for {wanted}", *evidence)
        return self.passed(f"{component} {found} from {path}", *evidence)


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
