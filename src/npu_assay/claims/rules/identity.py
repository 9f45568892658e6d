"""Which CANN the run really used, from what its processes had loaded."""

from collections.abc import Iterator, Sequence

from npu_assay.cann.versions import EMULATED
from npu_assay.claims.case import Case, LogLine
from npu_assay.claims.environment_facts import FACTS, read_facts
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.process_maps import (
    LIBRARY,
    PROCESS_MAP,
    is_main_library,
    library_hashes,
    loaded_libraries,
)
from npu_assay.claims.rule import Rule

STAGE = "versions-and-paths"
#: A line that the suite prints; see suites/support/cann.py.
IDENTITY = "cann-identity: "
HARDWARE = "hardware"


def identity_line(case: Case) -> LogLine | None:
    """The line that says which CANN was loaded, or None when the stage did not print exactly one."""
    if not case.archive.stage_log(STAGE).is_file():
        return None
    found = case.lines_beginning(STAGE, IDENTITY)
    return found[0] if len(found) == 1 else None


def says_emulated(line: LogLine) -> bool:
    """Whether the loaded library called itself emulated."""
    return line.text.removeprefix(IDENTITY).startswith(EMULATED)


class IdentityRule(Rule):
    """The manifest's kind of device is that of the library that was loaded, the same one in every process.

    Reads the lines `cann-identity:`, `process-map:` and `cann-library:` in the logs of all stages, and
    environment.json. It can't know what else a process had loaded between the moment at which it printed them
    and its end.
    """

    name = "identity"
    version = 2

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
        if not identity.startswith((EMULATED, HARDWARE)):
            return self.failed(
                f"expected {EMULATED} or {HARDWARE} and a build, found {line.text!r}", line.evidence
            )
        loaded = "emulated" if says_emulated(line) else "hardware"
        recorded = case.manifest.device.kind
        evidence = line.evidence, case.in_manifest("device", "kind")
        if loaded != recorded:
            return self.failed(
                f"the manifest says {recorded}, but the loaded CANN is {loaded}: {line.text!r}", *evidence
            )
        return self.passed(f"device kind {recorded}, as the loaded CANN says", *evidence)

    def _environment_file(self, case: Case, line: LogLine) -> Iterator[Finding]:
        """environment.json is written by the same process as the log and must say the same."""
        facts = read_facts(case)
        if IDENTITY + facts.cann_identity == line.text:
            yield self.passed("environment.json and the log name the same CANN", FACTS, line.evidence)
        else:
            message = f"environment.json says {facts.cann_identity!r}, the log says {line.text!r}"
            yield self.failed(message, FACTS)
        printed = [path for path, _ in loaded_libraries(case, STAGE)]
        if facts.process_map != printed:
            different = sorted({*facts.process_map} ^ {*printed}) or ["their order"]
            yield self.failed(
                f"environment.json and the log have different process maps: {', '.join(different)}",
                FACTS,
                case.log_of(STAGE),
            )

    def _libraries(self, case: Case) -> Iterator[Finding]:
        """Every process that had loaded CANN had loaded the same libascendcl, by path and by content."""
        loaded: dict[str, list[Evidence]] = {}
        hashes: dict[tuple[str, str], list[Evidence]] = {}
        wanted = {STAGE, *self._device_stages}
        for stage in (record.name for record in case.manifest.stages):
            if not case.was_run(stage):
                continue
            paths = [(path, line) for path, line in loaded_libraries(case, stage) if is_main_library(path)]
            hashed = list(library_hashes(case, stage))
            if stage in wanted and not paths:
                yield self.failed(f"no line `{PROCESS_MAP}.../{LIBRARY}` in the log", case.log_of(stage))
            elif [path for _, path, _ in hashed] != [path for path, _ in paths]:
                yield self.failed(
                    f"{stage}: {LIBRARY} is in {len(paths)} process maps, its sha256 in {len(hashed)} lines",
                    case.log_of(stage),
                )
            for path, line in paths:
                loaded.setdefault(path, []).append(line.evidence)
            for sha256, path, line in hashed:
                hashes.setdefault((path, sha256), []).append(line.evidence)
        places = [place for found in loaded.values() for place in found]
        if len(loaded) > 1:
            firsts = [found[0] for found in loaded.values()]
            yield self.failed(f"stages loaded different ones: {', '.join(loaded)}", *firsts)
        elif len(hashes) > 1:
            firsts = [found[0] for found in hashes.values()]
            contents = ", ".join(sha256 for _, sha256 in hashes)
            yield self.failed(f"{next(iter(loaded))} was another file each time: {contents}", *firsts)
        elif hashes:
            contents = ", ".join(sha256 for _, sha256 in hashes)
            yield self.passed(
                f"{len(places)} processes loaded {next(iter(loaded))}, sha256 {contents}", *places
            )
