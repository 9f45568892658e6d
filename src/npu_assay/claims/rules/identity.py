"""Which CANN the run really used, from what its processes had loaded."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from npu_assay.claims.case import Case, LogLine
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.document import read_document

STAGE = "versions-and-paths"
#: Lines that the suites print; see suites/support/cann.py.
IDENTITY = "cann-identity: "
PROCESS_MAP = "process-map: "
_EMULATED = "EMULATED"
_HARDWARE = "hardware"
_LIBRARY = "libascendcl.so"


def identity_line(case: Case) -> LogLine | None:
    """The line that says which CANN was loaded, or None when the stage did not print exactly one."""
    if not case.archive.stage_log(STAGE).is_file():
        return None
    found = [line for line in case.log_lines(STAGE, IDENTITY) if line.text.startswith(IDENTITY)]
    return found[0] if len(found) == 1 else None


def says_emulated(line: LogLine) -> bool:
    """Whether the loaded library called itself emulated."""
    return line.text.removeprefix(IDENTITY).startswith(_EMULATED)


class IdentityRule(Rule):
    """The manifest's kind of device is that of the library that was loaded, the same one in every stage."""

    name = "identity"
    version = 1

    def __init__(self, device_stages: Sequence[str]) -> None:
        self._device_stages = device_stages

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        line = identity_line(case)
        if line is None:
            yield self.failed(f"expected exactly one line `{IDENTITY}...` in the log", case.log_of(STAGE))
            return
        yield self._kind(case, line)
        yield from self._environment_file(case, line)
        yield from self._libraries(case)

    def _kind(self, case: Case, line: LogLine) -> Finding:
        identity = line.text.removeprefix(IDENTITY)
        if not identity.startswith((_EMULATED, _HARDWARE)):
            return self.failed(
                f"expected {_EMULATED} or {_HARDWARE} and a build, found {line.text!r}", line.evidence
            )
        loaded = "emulated" if says_emulated(line) else "hardware"
        recorded = case.manifest.device.kind
        evidence = line.evidence, Evidence("manifest.json")
        if loaded != recorded:
            return self.failed(
                f"the manifest says {recorded}, but the loaded CANN is {loaded}: {line.text!r}", *evidence
            )
        return self.passed(f"device kind {recorded}, as the loaded CANN says", *evidence)

    def _environment_file(self, case: Case, line: LogLine) -> Iterator[Finding]:
        """environment.json is written by the same process as the log and must say the same."""
        evidence = Evidence("environment.json")
        identity = read_document(case.archive.environment, str(evidence)).get("cann_identity")
        if IDENTITY + str(identity) == line.text:
            yield self.passed("environment.json and the log name the same CANN", evidence, line.evidence)
        else:
            yield self.failed(f"environment.json says {identity!r}, the log says {line.text!r}", evidence)

    def _libraries(self, case: Case) -> Iterator[Finding]:
        """Every stage that used the device had loaded the same libascendcl."""
        loaded: dict[str, list[Evidence]] = {}
        for stage in (STAGE, *self._device_stages):
            if not case.was_run(stage):
                continue
            paths = list(_loaded_by(case, stage))
            if not paths:
                yield self.failed(f"no line `{PROCESS_MAP}.../{_LIBRARY}` in the log", case.log_of(stage))
            for path, place in paths:
                loaded.setdefault(path, []).append(place)
        places = [place for found in loaded.values() for place in found]
        if len(loaded) > 1:
            firsts = [found[0] for found in loaded.values()]
            yield self.failed(f"stages loaded different ones: {', '.join(loaded)}", *firsts)
        elif loaded:
            yield self.passed(f"{len(places)} processes loaded {next(iter(loaded))}", *places)


def _loaded_by(case: Case, stage: str) -> Iterator[tuple[str, Evidence]]:
    """The paths of libascendcl that processes of the stage had loaded."""
    for line in case.log_lines(stage, PROCESS_MAP):
        path = line.text.removeprefix(PROCESS_MAP)
        if path != line.text and PurePosixPath(path).name.startswith(_LIBRARY):
            yield path, line.evidence
