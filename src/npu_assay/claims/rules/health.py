"""The devices' health before and after the run, judged again from npu-smi's raw output."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.files.driver_info import parse_driver_info
from npu_assay.cann.files.reading import read_version_file
from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.device.answers import Answers
from npu_assay.device.die import Die, counted
from npu_assay.device.health import changes, faults_of, uses_of
from npu_assay.device.host import Host, join
from npu_assay.device.npu_smi.health import HealthReport
from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.listing import Listing
from npu_assay.device.npu_smi.mapping import ChipMapping
from npu_assay.device.overrides import SKIP, HealthLog, Place, read_log
from npu_assay.device.reports import DeviceHealth
from npu_assay.device.stored import read_answers
from npu_assay.evidence.cann_files import Role
from npu_assay.evidence.device_state import read_device_state
from npu_assay.evidence.manifest import DeviceRecord, StageStatus
from npu_assay.evidence.strict_json import read_strictly

BEFORE, AFTER = "health", "health-after"
#: What a die keeps as long as it is the same.
_LASTING = ("logical_id", "physical_id", "bus_id", "name", "serial_number", "product_name")


@dataclass(frozen=True)
class _Side:
    """What one of the two stages left."""

    stage: str
    folder: Evidence
    answers: Answers
    host: Host
    log: HealthLog

    @property
    def judged(self) -> list[Die]:
        """The dies whose health counts: by the log, which may be an override's; all where it says nothing."""
        return self._named(self.log.looked_at)

    @property
    def seen(self) -> list[Die]:
        """The dies that the run could use."""
        return self._named(self.log.seen)

    def _named(self, places: frozenset[Place] | None) -> list[Die]:
        return [die for die in self.host.dies if places is None or (die.npu_id, die.chip_id) in places]


class HealthRule(Rule):
    """Before: the run's dies healthy and free, and those that the manifest says. After: the same, and nothing
    left on them. Other dies of the host may be in use by others.

    Reads npu-smi's raw output in device/ and device/after/, the logs of both stages, and the driver's version
    file; holds devices.json and the manifest's dies and their states against them. It can't know what
    happened between the two looks, nor of a process that npu-smi does not show in a container.
    """

    name = "health"
    version = 5

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(BEFORE):
            yield self.stage_not_run(BEFORE)
            return
        before = _side(case, BEFORE, case.archive.device)
        problems = [] if before.host.emulated else uses_of(before.seen)
        problems += _departures(before, case.manifest.device)
        problems += _of_log(case, before)
        yield from self._judge(case, before, problems)
        yield from self._records(case, before, "before")
        yield from self._driver(case, before)
        if not case.was_run(AFTER):
            yield self.stage_not_run(AFTER)
            return
        after = _side(case, AFTER, case.archive.device_after)
        problems = [*changes(before.host, after.host, after.seen), *_exchanged(before.host, after.host)]
        yield from self._judge(case, after, [*problems, *_of_log(case, after)])
        yield from self._records(case, after, "after")

    def _records(self, case: Case, side: _Side, when: str) -> Iterator[Finding]:
        """What was read from the raw output when the run was made is what is read from it now."""
        listing = Evidence(f"{side.folder}/devices.json")
        said = case.in_manifest("device", when)
        folder = case.archive.root / side.folder.file
        problems = 0
        if getattr(case.manifest.device, when) != read_device_state(folder):
            problems += 1
            yield self.failed(
                f"{side.stage}: the manifest's dies {when} are not npu-smi's", said, side.folder
            )
        report = read_strictly(folder / "devices.json", str(listing), DeviceHealth)
        places = tuple(die.place for die in side.judged)
        for name, found, expected in (
            ("devices", report.devices, side.host.dies),
            ("npu_smi_version", report.npu_smi_version, side.host.npu_smi_version),
            ("judged", sorted(report.judged), sorted(places)),
            ("override", report.override, side.log.override),
            ("skipped", report.skipped, side.log.skipped),
        ):
            if found != expected:
                problems += 1
                yield self.failed(f"{side.stage}: {name} is not what npu-smi and the log say", listing)
        if not problems:
            yield self.passed(f"{side.stage}: devices.json and manifest say the same", listing, said)

    def _driver(self, case: Case, side: _Side) -> Iterator[Finding]:
        """npu-smi's title line has the version of the driver, whose file the stage cann kept."""
        found = sorted((case.archive.cann / Role.DRIVER).glob("*"))
        if not found or side.host.npu_smi_version is None:
            return
        place = Evidence(found[0].relative_to(case.archive.root).as_posix())
        driver = read_version_file(found[0], parse_driver_info, str(place))
        info = driver.value if driver else None
        if info is not None and info.version != side.host.npu_smi_version:
            yield self.inconclusive(
                f"{side.stage}: npu-smi is of driver {side.host.npu_smi_version}, the kept file of"
                f" {info.version}: perhaps of two hosts",
                side.folder,
                place,
            )

    def _judge(self, case: Case, side: _Side, more: list[str]) -> Iterator[Finding]:
        """Every problem; without one, what keeps it from being a pass; without that, a pass."""
        problems = [*side.host.problems, *([] if side.log.skipped else faults_of(side.judged)), *more]
        if side.answers.one(Info) is None:
            problems.append("no npu-smi info, without which nothing is known of the dies' use")
        for problem in problems:
            yield self.failed(f"{side.stage}: {problem}", side.folder)
        gaps = _gaps(side)
        if side.log.skipped:
            message = f"{side.stage}: {SKIP}=1 left out the health query, so no health was measured"
            limited = case.mode is Mode.LIMITED
            yield (self.not_applicable if limited else self.inconclusive)(message, case.log_of(side.stage))
        elif gaps:
            yield self.inconclusive(
                f"{side.stage}: {counted(side.host.dies)}, but {' and '.join(gaps)}", side.folder
            )
        elif not problems:
            override = f", as {side.log.override} says" if side.log.override else ""
            judged = f"{len(side.judged)} of {len(side.host.dies)} dies judged{override}, all healthy"
            left = ", nothing left on them" if side.stage == AFTER else ""
            yield self.passed(f"{side.stage}: {judged}{left}", side.folder)


def _departures(side: _Side, device: DeviceRecord) -> list[str]:
    """How the dies that the run could use are others than those that the manifest says it took."""
    problems = []
    for taken in device.dies:
        shown = [die for die in side.host.dies if (die.npu_id, die.chip_id) == (taken.npu_id, taken.chip_id)]
        if not shown:
            problems.append(f"{taken.place}: taken by the manifest, but npu-smi shows no such die")
        for die in shown:
            for name, now, then in (
                ("logical id", die.visible_id, taken.logical_id),
                ("physical id", die.physical_id, taken.physical_id),
                ("bus id", die.bus_id, taken.bus_id),
                ("name", die.name, taken.name),
            ):
                if now is not None and now != then:
                    problems.append(f"{die.place}: {name} is {now}, {then} by the manifest")
    if sorted(die.place for die in side.seen) != sorted(die.place for die in device.dies):
        seen, taken_ones = (", ".join(die.place for die in dies) for dies in (side.seen, device.dies))
        problems.append(f"the run saw {seen or 'no die'}, the manifest says {taken_ones or 'none'}")
    return problems


def _exchanged(before: Host, after: Host) -> list[str]:
    """Dies that are at the same place and others all the same: the two outputs are of two hosts."""
    problems = []
    if before.npu_smi_version != after.npu_smi_version:
        problems.append(f"npu-smi is {after.npu_smi_version}, it was {before.npu_smi_version} before the run")
    were = {(die.npu_id, die.chip_id): die for die in before.dies}
    for die in after.dies:
        was = were.get((die.npu_id, die.chip_id))
        for name in _LASTING:
            then, now = (None if one is None else getattr(one, name) for one in (was, die))
            if then is not None and now is not None and then != now:
                problems.append(
                    f"{die.place}: {name.replace('_', ' ')} is {now}, it was {then} before the run"
                )
    return problems


def _of_log(case: Case, side: _Side) -> list[str]:
    """Where the stage's own count contradicts npu-smi's output, or how the stage ended."""
    if side.log.counted is None:
        return ["the log does not say how many devices and problems there were"]
    devices, problems = side.log.counted
    found = []
    if devices != len(side.host.dies):
        found.append(f"the log counts {devices} devices, npu-smi shows {len(side.host.dies)}")
    record = case.manifest.stage(side.stage)
    if problems and record is not None and record.status is StageStatus.PASS:
        found.append(f"the log counts {problems} problems, and the stage passed")
    return found


def _side(case: Case, stage: str, folder: Path) -> _Side:
    answers = read_answers([folder])
    log = read_log(line.text for line in case.log_lines(stage))
    place = Evidence(folder.relative_to(case.archive.root).as_posix())
    return _Side(stage, place, answers, join(answers), log)


def _gaps(side: _Side) -> list[str]:
    """What was not measured, or not of the dies that were used."""
    gaps = [
        f"npu-smi info {option} is missing"
        for option, kind in (("-m", ChipMapping), ("-l", Listing))
        if side.answers.one(kind) is None
    ]
    asked = {(answer.npu_id, answer.chip_id) for answer, _ in side.answers.of(HealthReport)}
    missing = [die.place for die in side.judged if (die.npu_id, die.chip_id) not in asked]
    if missing:
        gaps.append(f"npu-smi info -t health is missing for {', '.join(missing)}")
    if not side.judged:
        gaps.append("none of them was looked at")
    apart = [die.place for die in side.seen if die not in side.judged]
    if apart:
        gaps.append(
            f"the run could use {', '.join(apart)}, which {side.log.override or 'it'} did not look at"
        )
    unknown = [die.place for die in side.seen if die.processes is None]
    if unknown:
        gaps.append(f"npu-smi info does not say what runs on {', '.join(unknown)}")
    return gaps
