"""The components that were loaded are those that the lock asks for."""

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from npu_assay.claims.case import Case, LogLine
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule

STAGE = "versions-and-paths"


class VersionsRule(Rule):
    """Of each component: the log names one loaded version and file, and it is the version of the lock.

    The suite prints `<distribution> <version> <file>`. A local part (`+cpu`) is a build of the same version.
    """

    name = "versions"
    version = 1

    def __init__(self, components: tuple[str, ...]) -> None:
        self._components = components

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        for component in self._components:
            lines = [line for line in case.log_lines(STAGE, component) if _names(line, component)]
            yield self._judge(case, component, lines)

    def _judge(self, case: Case, component: str, lines: list[LogLine]) -> Finding:
        wanted = case.manifest.environment.versions.get(component)
        if len(lines) != 1:
            return self.failed(
                f"{component}: {len(lines)} lines name its version and file", case.log_of(STAGE)
            )
        found, path = lines[0].text.split(maxsplit=2)[1:]
        evidence = lines[0].evidence, Evidence("manifest.json")
        if wanted is None or _public(found) != _public(wanted):
            return self.failed(f"{component}: {found} was loaded, the lock asks for {wanted}", *evidence)
        return self.passed(f"{component} {found} from {path}", *evidence)


def _names(line: LogLine, component: str) -> bool:
    words = line.text.split(maxsplit=2)
    return len(words) == 3 and words[0] == component and words[2].startswith("/")


def _public(version: str) -> str:
    try:
        return Version(version).public
    except InvalidVersion:
        return version
