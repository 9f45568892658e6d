"""One host's dies: what npu-smi's several outputs say, put together, and where they contradict each other."""

from dataclasses import dataclass, field

from npu_assay.device.answers import Answer, Answers
from npu_assay.device.die import Die
from npu_assay.device.npu_smi.board import Boards
from npu_assay.device.npu_smi.health import HEALTHY, HealthReport
from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.listing import Listing
from npu_assay.device.npu_smi.mapping import ChipMapping
from npu_assay.device.npu_smi.phyid_remap import PhysicalIdRemap
from npu_assay.device.npu_smi.process_memory import ProcessMemory
from npu_assay.device.npu_smi.recognise import Unsupported, cut_of
from npu_assay.device.npu_smi.usages import MemoryReport, Usages
from npu_assay.device.seen import from_info, seen_in
from npu_assay.errors import UsageError

#: What stays what it is, so that two outputs can't both be right when they differ.
_FIXED = {
    "logical_id": "logical id",
    "physical_id": "physical id",
    "bus_id": "bus id",
    "serial_number": "serial number",
}
#: What is said of a card and true of each of its dies. Other figures of a card are not those of each die.
_OF_EACH = (
    "health",
    "error_code",
    "error_information",
    "product_name",
    "serial_number",
    "driver_version",
    "firmware_version",
)


@dataclass(frozen=True)
class Host:
    """The dies of a host and what is wrong with the outputs themselves (health is judged in `health`)."""

    npu_smi_version: str | None
    dies: tuple[Die, ...]
    problems: tuple[str, ...]
    """Contradictions between outputs, unusable chips."""
    notes: tuple[str, ...]
    """What is true but no die's: a controller's health, what the driver can't tell, how a text was read."""
    cut: tuple[str, ...] = ()
    """The outputs that were cut short, which are problems too: there may be dies that nobody saw."""

    @property
    def emulated(self) -> bool:
        """Whether the emulated npu-smi answered."""
        return self.npu_smi_version is not None and "EMULATED" in self.npu_smi_version.upper()

    def die(self, npu_id: int, chip_id: int | None = None) -> tuple[Die, ...]:
        """The dies of an NPU, or the one of a chip."""
        return tuple(die for die in self.dies if die.npu_id == npu_id and chip_id in (None, die.chip_id))


@dataclass
class _Joining:
    """The dies so far, by place."""

    controllers: frozenset[tuple[int, int]]
    dies: list[Die] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def matches(self, seen: Die) -> list[int]:
        """Which dies an output's lines are of: a place without a chip is every chip of the NPU."""
        if seen.npu_id is None:
            chips = (None, seen.chip_id)
            alike = [at for at, die in enumerate(self.dies) if seen.chip_id is None or die.chip_id in chips]
            return alike if len(alike) == 1 else []
        same_npu = [at for at, die in enumerate(self.dies) if die.npu_id == seen.npu_id]
        if seen.chip_id is None:
            return same_npu
        exact = [at for at in same_npu if self.dies[at].chip_id == seen.chip_id]
        return exact or [at for at in same_npu if self.dies[at].chip_id is None]

    def add(self, seen: Die) -> None:
        """A die that is there because this output says so."""
        at = self.matches(seen)
        if len(at) == 1:
            self.merge(at[0], seen, "")
        else:
            self.dies.append(seen)

    def merge(self, at: int, seen: Die, source: str) -> None:
        """Fill in what is not known yet, and hold against each other what is."""
        die = self.dies[at]
        for name, words in _FIXED.items():
            before, now = getattr(die, name), getattr(seen, name)
            if before is not None and now is not None and str(before).lower() != str(now).lower():
                self.problems.append(f"{die.place}: {words} is {before} and, by {source or 'info -m'}, {now}")
        if die.hbm and seen.hbm and die.hbm.total_mib != seen.hbm.total_mib:
            self.problems.append(
                f"{die.place}: HBM of {die.hbm.total_mib} MiB and, by {source}, {seen.hbm.total_mib} MiB"
            )
        new = {
            name: value
            for name in Die.model_fields
            if getattr(die, name) is None and (value := getattr(seen, name)) is not None
        }
        if seen.health not in (None, HEALTHY) and die.health in (None, HEALTHY):  # the bad word counts
            new |= {name: getattr(seen, name) for name in ("health", "error_code", "error_information")}
        if die.figures and seen.figures:
            new["figures"] = seen.figures | die.figures
        self.dies[at] = die.model_copy(update=new)


def join(answers: Answers) -> Host:
    """Put one host's outputs together. Raises UsageError when none of them is about a die."""
    mapping = answers.one(ChipMapping)
    info = answers.one(Info)
    controllers = [(one.npu_id, one.chip_id) for one in mapping.controllers] if mapping else []
    cut = tuple(f"{one.source}: {end}" for one in answers.all if (end := cut_of(one.output)) is not None)
    joining = _Joining(frozenset(controllers), problems=list(cut), notes=_open_ends(answers))
    if info is not None:
        joining.dies += [from_info(info, die) for die in info.dies]
        source = next(answer.source for answer, _ in answers.of(Info))
        joining.notes += [f"{source}: {note}" for note in info.notes]
        _check_processes(joining, info)
    if mapping is not None:
        _add_mapping(joining, info, mapping)
    known = bool(joining.dies)
    for answer in answers.all:
        for seen in seen_in(answer):
            if seen.npu_id is not None and (seen.npu_id, seen.chip_id) in joining.controllers:
                _note_controller(joining, seen)
                continue
            _place(joining, seen, answer, known)
    if not joining.dies:
        reasons = [*unsupported(answers), *_of_controllers(answers)]
        said = "; ".join(reasons) or ", ".join(answer.source for answer in answers.all)
        raise UsageError(f"no die is named in {said}; give npu-smi info or info -m with it")
    _check_listing(joining, info, answers.one(Listing))
    return Host(
        npu_smi_version=info.version if info else None,
        dies=tuple(sorted(joining.dies, key=lambda die: die.key)),
        problems=tuple(joining.problems),
        notes=tuple(dict.fromkeys(joining.notes)),
        cut=cut,
    )


def _place(joining: _Joining, seen: Die, answer: Answer, known: bool) -> None:
    at = joining.matches(seen)
    if not at and not known and not _may_be_controller(seen, answer):
        joining.dies.append(seen)
    elif not at and isinstance(answer.output, HealthReport):
        if seen.npu_id is not None and seen.chip_id is not None and joining.matches(Die(npu_id=seen.npu_id)):
            _note_controller(joining, seen)
        elif seen.health != HEALTHY:
            joining.problems.append(
                f"{answer.source}: health is {seen.health}, expected {HEALTHY} {_error(seen)}"
            )
    elif not at and isinstance(answer.output, Usages | MemoryReport | ProcessMemory | PhysicalIdRemap):
        joining.notes.append(f"{answer.source}: of which die this is can't be told")
    whole_npu = len(at) > 1
    for one in at:
        part = seen
        if whole_npu:
            part = Die(**{name: getattr(seen, name) for name in _OF_EACH})
        joining.merge(one, part, answer.source)


def _may_be_controller(seen: Die, answer: Answer) -> bool:
    """Of several chips in one health report, the last is a controller; only `info -m` says whether it is."""
    return (
        isinstance(answer.output, HealthReport)
        and sum(chip.npu_id == seen.npu_id for chip in answer.output.chips) > 1
    )


def _note_controller(joining: _Joining, seen: Die) -> None:
    if seen.health not in (None, HEALTHY):
        who = f"NPU {seen.npu_id}: its board's controller (chip {seen.chip_id})"
        joining.notes.append(f"{who} reports {seen.health} {_error(seen)}")


def _error(die: Die) -> str:
    return f"(error code {die.error_code or 'none'}, {die.error_information or 'no information'})"


def _add_mapping(joining: _Joining, info: Info | None, mapping: ChipMapping) -> None:
    """The chips of `info -m`, each of which `info` has to show too, unless it was cut short."""
    shown = list(joining.dies)
    for chip in mapping.chips:
        if not chip.usable:
            joining.problems.append(f"chip {chip.chip_id} ({chip.name}): NPU ID {chip.npu_id}, unusable")
            continue
        seen = Die(
            npu_id=chip.npu_id,
            chip_id=chip.chip_id,
            logical_id=chip.logical_id,
            physical_id=chip.physical_id,
            name=chip.name,
        )
        if info is not None and info.cut is None and not joining.matches(seen):
            joining.problems.append(f"{seen.place}: in only one of npu-smi info and info -m")
        joining.add(seen)
    mapped = [Die(npu_id=chip.npu_id, chip_id=chip.chip_id) for chip in mapping.chips if chip.usable]
    for die in shown:
        if not any(die.npu_id == one.npu_id and die.chip_id in (None, one.chip_id) for one in mapped):
            joining.problems.append(f"{die.place}: in only one of npu-smi info and info -m")


def _check_processes(joining: _Joining, info: Info) -> None:
    """Each process is on a die that the same output shows."""
    for process in info.processes or ():
        place = Die(npu_id=process.npu_id, chip_id=process.chip_id)
        if not joining.matches(place):
            joining.problems.append(
                f"process {process.pid}: on {place.place}, which npu-smi info does not show"
            )


def _check_listing(joining: _Joining, info: Info | None, listing: Listing | None) -> None:
    """Each NPU is in both, as far as they were not cut short, with as many dies as it has chips."""
    if listing is None:
        return
    counted = {npu.npu_id: npu.chip_count for npu in listing.npus}
    shown = {die.npu_id for die in joining.dies if die.npu_id is not None}
    missing = set() if info is not None and info.cut is not None else counted.keys() - shown
    more = set() if listing.cut is not None else shown - counted.keys()
    for npu in sorted(missing | more):
        joining.problems.append(f"NPU {npu}: in only one of npu-smi info and info -l")
    for npu in sorted(counted.keys() & shown):
        dies = sum(die.npu_id == npu for die in joining.dies)
        if (
            counted[npu] is not None
            and counted[npu] != dies
            and all(die.chip_id is not None for die in joining.dies if die.npu_id == npu)
        ):
            joining.problems.append(f"NPU {npu}: {dies} dies, but info -l counts {counted[npu]} chips")


def unsupported(answers: Answers) -> list[str]:
    """What the driver said that it can't tell."""
    return [f"{answer.source}: {output.reason}" for answer, output in answers.of(Unsupported)]


def _of_controllers(answers: Answers) -> list[str]:
    """Outputs that are about a board's controller and nothing else."""
    return [
        f"{answer.source}: of a board's controller, which is no die"
        for answer, output in answers.of(Boards)
        if all(board.is_controller for board in output.boards)
    ]


def _open_ends(answers: Answers) -> list[str]:
    """Outputs whose last value may be cut without anything that shows it."""
    return [
        f"{answer.source}: no line break ends its last line, whose value may be cut"
        for answer in answers.all
        if answer.ends_within_line and not isinstance(answer.output, Info)
    ]
