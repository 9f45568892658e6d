"""What a stage wrote was written while it ran: the clocks in its raw files against the manifest's times."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.manifest import StageRecord
from npu_assay.evidence.pytest_junit import read_pytest_junit

#: A line of vLLM's begins `INFO 11-30 01:32:19 [`, in local time, without year and zone (vllm/logger.py,
#: _FORMAT and _DATE_FORMAT, 0.18.0). pytest prints it behind a test's name.
_VLLM = re.compile(r"\b(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d-\d\d \d\d:\d\d:\d\d) \[")
_WORDS = ("DEBUG ", "INFO ", "WARNING ", "ERROR ", "CRITICAL ")
#: Zones are whole quarters of an hour away from UTC, from -12:00 to +14:00.
_QUARTER = timedelta(minutes=15)
_ZONES = range(-48, 57)
#: The stage's clock began before it was noted, and vLLM cuts off fractions of a second.
_SLACK = timedelta(seconds=2)
_MOST_CLOCKS = 100_000
_SHOWN = 5


@dataclass(frozen=True)
class _Window:
    """When a stage ran."""

    begin: datetime
    end: datetime

    @classmethod
    def of(cls, stage: StageRecord) -> "_Window | None":
        if stage.started is None or stage.seconds is None:
            return None
        return cls(stage.started - _SLACK, stage.started + timedelta(seconds=stage.seconds) + _SLACK)

    def zones_of(self, clock: str) -> frozenset[int]:
        """The zones, in quarters of an hour, in which a clock without year was in the window."""
        return frozenset(
            zone for local in self._with_year(clock) for zone in _ZONES if self.has(local - zone * _QUARTER)
        )

    def has(self, time: datetime) -> bool:
        return self.begin <= time <= self.end

    def _with_year(self, clock: str) -> Iterator[datetime]:
        for year in {(self.begin - timedelta(days=1)).year, (self.end + timedelta(days=1)).year}:
            try:
                yield datetime.strptime(f"{year}-{clock}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
            except ValueError:  # 29 February of another year, or no date at all
                continue


class TimesRule(Rule):
    """JUnit's timestamps and the clocks of vLLM's lines lie within their stages: no log is another run's.

    Reads stages/*.log, stages/*.junit.xml and the times of stages in manifest.json. It can't know whether all
    of them were moved together, nor the clocks of what prints none (ruff, npu-smi).
    """

    name = "times"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        clocks, zones, good = 0, frozenset(_ZONES), True
        for stage in case.manifest.stages:
            window = _Window.of(stage)
            if window is None or not case.was_run(stage.name):
                continue
            for finding in self._reports(case, stage.name, window):
                good = good and finding is None
                clocks += finding is None
                if finding is not None:
                    yield finding
            if not case.archive.stage_log(stage.name).is_file():  # the stages rule says so
                continue
            found = _clocks(case, stage.name)
            strays = {clock: place for clock, place in found.items() if not window.zones_of(clock)}
            for clock, place in list(strays.items())[:_SHOWN]:
                good = False
                yield self.failed(f"{stage.name}: its log has the time {clock}, {_ran(stage)}", place)
            shared = zones.intersection(*(window.zones_of(clock) for clock in found.keys() - strays.keys()))
            if zones and not shared and not strays:
                good = False
                yield self.inconclusive(
                    f"{stage.name}: its clock is of another time zone than those before it",
                    case.log_of(stage.name),
                )
            zones, clocks = shared or zones, clocks + len(found)
        if not clocks and good:
            yield self.not_applicable("no stage left a clock in its log")
        elif good:
            yield self.passed(f"{clocks} times in logs and JUnit files lie within their stages")

    def _reports(self, case: Case, stage: str, window: _Window) -> Iterator[Finding | None]:
        """For each suite of the stage's JUnit file what is wrong with its time, or None."""
        path, record = case.archive.stage_junit(stage), case.manifest.stage(stage)
        if not path.is_file() or record is None:
            return
        name = f"stages/{stage}.junit.xml"
        for suite in read_pytest_junit(path, name).suites:
            place, text = Evidence(name, suite.line), suite.attributes.get("timestamp", "")
            time = _time(text)
            if time is None:
                yield self.inconclusive(f"{stage}: JUnit has no time with a zone, found {text!r}", place)
            elif not window.has(time):
                yield self.failed(f"{stage}: JUnit has the time {text}, {_ran(record)}", place)
            else:
                yield None


def _ran(stage: StageRecord) -> str:
    return f"the stage ran from {stage.started:%Y-%m-%dT%H:%M:%SZ} for {stage.seconds} s"


def _time(text: str) -> datetime | None:
    """A time with its zone, as pytest writes it since 8.2 (_pytest/junitxml.py); None for anything else."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else None


def _clocks(case: Case, stage: str) -> dict[str, Evidence]:
    """Each clock of the log, with where it stands first."""
    found: dict[str, Evidence] = {}
    for line in case.log_lines(stage, *_WORDS):
        for clock in _VLLM.findall(line.text):
            found.setdefault(clock, line.evidence)
        if len(found) > _MOST_CLOCKS:
            break
    return found
