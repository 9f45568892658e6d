"""What is right and wrong with this host's NPUs, for doctor.

A pure function of what was looked at: npu-smi's answers, the nodes, the variables. `look` does the looking,
within the second or two that doctor has.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_assay.device.answers import Answers
from npu_assay.device.container import in_container
from npu_assay.device.device_map import is_950, map_devices
from npu_assay.device.die import Die, counted
from npu_assay.device.health import faults_of
from npu_assay.device.host import Host, join
from npu_assay.device.idle import is_measured, use_of
from npu_assay.device.nodes import MANAGERS, DeviceNodes, docker_flags, read_nodes
from npu_assay.device.npu_smi.errors import MissingToolError, NoAnswerError, NpuSmiError
from npu_assay.device.overrides import dies_seen
from npu_assay.device.query import NpuSmi, Survey
from npu_assay.device.visible import RT_VISIBLE_DEVICES, VISIBLE_DEVICES
from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.errors import AssayError, UnusableError

DRIVER = Path("/usr/local/Ascend/driver")
#: Of doctor's two seconds. npu-smi itself needs a good part of one on a host of eight cards.
_SECONDS = 1.4
_GROUP = "HwHiAiUser"
#: First-generation card with 32 GB and soc_version 104: named as an A2, and none (vllm-ascend#10206, #6796).
_NO_A2 = "910B"


@dataclass(frozen=True)
class Looked:
    """Everything that the diagnosis is made from."""

    survey: Survey
    nodes: DeviceNodes
    variables: Mapping[str, str]
    driver: Path | None
    """The driver's folder, if it is there."""


def look(
    variables: Mapping[str, str], dev: Path = Path("/dev"), driver: Path = DRIVER, seconds: float = _SECONDS
) -> Looked:
    """Ask npu-smi, all subcommands at once, and look at the nodes.

    For stored output, make a `Looked` with `Survey(read_answers(paths), ())`.
    """
    nodes = read_nodes(dev)
    try:
        npu_smi = NpuSmi(variables, seconds=seconds)
    except UnusableError as error:
        survey = Survey(Answers(()), (error,))
    else:
        survey = npu_smi.survey(health="unhealthy", nodes=() if in_container() else nodes.dies)
    return Looked(survey, nodes, variables, driver if driver.exists() else None)


def diagnose(looked: Looked, *, hardware: bool = False) -> list[Diagnosis]:
    """Every finding, good ones too, in the order of looking.

    `hardware`: an NPU is what was asked for, so that none at all is a problem.
    """
    if not looked.nodes.dies and looked.driver is None and _has_no_tool(looked.survey):
        message = f"no NPU here: no npu-smi, no driver, no {looked.nodes.folder}/davinci*"
        if not hardware:
            return [Diagnosis("npu", Level.NOTE, message)]
        advice = (
            f"look on a host with an NPU; start a container on one with {docker_flags(())}; without one, "
            f"`--device emulated`"
        )
        return [Diagnosis("npu", Level.PROBLEM, message, advice)]
    findings = list(_failures(looked.survey))
    host = None
    if looked.survey.answers.all:
        try:
            host = join(looked.survey.answers)
        except AssayError as error:
            findings.append(_unreadable(error))
    if host is not None:
        findings += _of_host(looked, host)
    elif not looked.nodes.dies:
        findings.append(_no_nodes(looked, None))
    else:
        findings += _nodes(looked, None)
    return findings


def _has_no_tool(survey: Survey) -> bool:
    return not survey.answers.all and all(isinstance(error, MissingToolError) for error in survey.failures)


def _failures(survey: Survey) -> Iterator[Diagnosis]:
    """npu-smi's own failures; the same one from several subcommands is one finding."""
    seen = set()
    for error in survey.failures:
        if isinstance(error, NoAnswerError):  # slow or hung: this soon, nobody can tell
            advice = f"`npu-assay device health` waits for a minute; if that is not enough, {error.advice}"
            finding = Diagnosis("npu-smi", Level.WARNING, f"npu-smi: {error.problem}", advice)
        elif isinstance(error, NpuSmiError):
            finding = Diagnosis("npu-smi", Level.PROBLEM, f"npu-smi: {error.problem}", error.advice)
        else:
            finding = _unreadable(error)
        if (key := (finding.message, finding.advice)) not in seen:
            seen.add(key)
            yield finding


def _unreadable(error: AssayError) -> Diagnosis:
    advice = "`npu-smi info > info.txt; npu-assay device list --from info.txt` and report the output"
    return Diagnosis("npu-smi", Level.PROBLEM, str(error), advice)


def _of_host(looked: Looked, host: Host) -> Iterator[Diagnosis]:
    if not looked.survey.failures and not host.cut:
        names = ", ".join(sorted({die.name or "unnamed" for die in host.dies}))
        version = host.npu_smi_version or "of unknown version"
        yield Diagnosis("npu-smi", Level.GOOD, f"npu-smi {version} shows {counted(host.dies)} ({names})")
    for cut in host.cut:
        yield Diagnosis("npu-smi", Level.PROBLEM, cut, "ask npu-smi again, and keep all that it says")
    yield from _health(host)
    yield from _supported(host)
    if not host.emulated:  # which has no nodes
        if looked.nodes.dies:
            yield from _nodes(looked, host)
        else:
            yield _no_nodes(looked, host)
    yield from _map(looked, host)
    yield from _use(looked, host)
    for note in host.notes:
        yield Diagnosis("npu-smi", Level.WARNING, note)


def _health(host: Host) -> Iterator[Diagnosis]:
    """Of dies whose health is known: why it is not stands in npu-smi's own failure."""
    known = [die for die in host.dies if die.health is not None]
    sick = 0
    for die in known:
        for fault in faults_of([die]):
            sick += 1
            yield Diagnosis("die-health", Level.PROBLEM, fault, _reset(die))
    if len(known) < len(host.dies):
        unknown = ", ".join(die.place for die in host.dies if die.health is None)
        yield Diagnosis(
            "die-health", Level.WARNING, f"{unknown}: health not known, as npu-smi info did not say it"
        )
    elif not sick:
        healthy = "the die is healthy" if len(host.dies) == 1 else f"all {len(host.dies)} dies are healthy"
        yield Diagnosis("die-health", Level.GOOD, healthy)


def _reset(die: Die) -> str:
    """How to reset a die, and what goes with it.

    `-i N -c M`, out of band through the BMC or with `-m 1` in band; 20 s before the next query (npu-smi's
    reference for the Atlas 200I A2, 25.2.0, "reset the chip"). The Atlas 350 takes no -c and `-m 1` only (its
    npu-smi reference, "reset the NPU"). Both: by root, not in an ordinary container, and nothing running. An
    A2 server resets all of its NPUs for one (MindCluster ToolBox 6.0, "NPU environment recovery").
    """
    chip = "" if die.chip_id is None or die.is_950 else f" -c {die.chip_id}"
    of_die = f"-i {die.npu_id}{chip}"
    how = "`-m 1` is in band" if die.is_950 else "with `-m 1` in band, where there is no BMC"
    command = f"npu-smi set -t reset {of_die}" + (" -m 1" if die.is_950 else "")
    return (
        f"do not run on it; end what runs on any NPU of this host (an A2 server resets all of them), then "
        f"`{command}` as root on the host ({how}), and look again after 20 s; if it stays, ask the "
        f"vendor, with what `npu-smi info -t health {of_die}` says"
    )


def _supported(host: Host) -> Iterator[Diagnosis]:
    for die in host.dies:
        if (die.name or "").removeprefix("Ascend").strip() == _NO_A2:
            yield Diagnosis(
                "die-supported",
                Level.PROBLEM,
                f"{die.place}: named {die.name} without a number: soc_version 104, not a supported A2 "
                f"(those are 910B1 to 910B4)",
                "use an A2 (910B1 to 910B4) or A3; here, `--device emulated`",
            )


def _no_nodes(looked: Looked, host: Host | None) -> Diagnosis:
    there = "npu-smi answers" if host else "the driver is mounted" if looked.driver else "npu-smi is there"
    physical = sorted(die.physical_id for die in host.dies if die.physical_id is not None) if host else []
    flags = docker_flags(physical, is_950=host is not None and is_950(host))
    return Diagnosis(
        "device-nodes",
        Level.PROBLEM,
        f"{there}, but there is no {looked.nodes.folder}/davinci*: a container without device nodes",
        f"start it with {flags}; on the host itself, load the driver",
    )


def _nodes(looked: Looked, host: Host | None) -> Iterator[Diagnosis]:
    nodes = looked.nodes
    old = host is None or not is_950(host)
    missing = nodes.missing_managers(is_950=not old)
    if missing:
        names = ", ".join(f"{nodes.folder}/{name}" for name in missing)
        yield Diagnosis(
            "device-nodes",
            Level.PROBLEM,
            f"{names}: not there, although {nodes.folder} has davinci nodes",
            f"start the container with {docker_flags(nodes.dies, is_950=not old)}",
        )
    if nodes.closed:
        names = ", ".join(f"{nodes.folder}/{name}" for name in nodes.closed)
        yield Diagnosis(
            "device-nodes-access",
            Level.PROBLEM,
            f"{names}: this user may not open them; they belong to group {_GROUP}",
            f"sudo usermod -aG {_GROUP} $USER, then log in again; a container: "
            f"--group-add $(getent group {_GROUP} | cut -d: -f3)",
        )
    if not missing and not nodes.closed:
        names = ", ".join(f"davinci{number}" for number in nodes.dies)
        yield Diagnosis(
            "device-nodes", Level.GOOD, f"{nodes.folder}: {names} and their managers are open to us"
        )


def _map(looked: Looked, host: Host) -> Iterator[Diagnosis]:
    """Contradictions; what `_nodes` says is not said again."""
    compared = looked.nodes if looked.nodes.dies and not host.emulated else None
    problems = map_devices(host, compared, looked.variables).problems
    said = tuple(f"{looked.nodes.folder}/{name}: not " for name in MANAGERS)
    said += tuple(f"{looked.nodes.folder}/{name}: not open" for name in looked.nodes.closed)
    problems = tuple(one for one in problems if not one.startswith(said) and one not in host.cut)
    for problem in problems:
        if problem.startswith(RT_VISIBLE_DEVICES):
            ids = sorted(die.visible_id for die in host.dies if die.visible_id is not None)
            all_of_them = ",".join(map(str, ids))
            advice = (
                f"unset {RT_VISIBLE_DEVICES}, or set it to some of {all_of_them}, ascending, without spaces"
            )
            yield Diagnosis("visible-devices", Level.PROBLEM, problem, advice)
        elif problem.startswith(VISIBLE_DEVICES):
            advice = (
                "start the container with --runtime=ascend, or with the --device flags of the dies that are "
                f"meant; inside, {RT_VISIBLE_DEVICES} chooses among those that are there"
            )
            yield Diagnosis("visible-devices", Level.PROBLEM, problem, advice)
        else:
            advice = "`npu-assay device map` shows all ids; trust none of them before they agree"
            yield Diagnosis("device-map", Level.PROBLEM, problem, advice)
    if not problems:
        yield Diagnosis("device-map", Level.GOOD, "npu-smi's ids, the device nodes and the variables agree")


def _use(looked: Looked, host: Host) -> Iterator[Diagnosis]:
    """A busy die is a problem only when no free one is left to this process."""
    try:
        seen = dies_seen(host, looked.variables)
    except UnusableError:
        return  # said already
    if host.cut:  # which says of no die that it is free
        return
    busy = {die.place: use for die in seen if (use := use_of(die))}
    free = [die for die in seen if die.place not in busy and is_measured(die) and not faults_of([die])]
    for place, use in busy.items():
        yield Diagnosis(
            "die-busy", Level.WARNING if free else Level.PROBLEM, f"{place}: {use}", _advice(free)
        )
    unknown = [die.place for die in seen if not is_measured(die)]
    if unknown:
        message = (
            f"{', '.join(unknown)}: whether anybody uses it is not known, as npu-smi info did not say it"
        )
        yield Diagnosis("die-busy", Level.WARNING, message)
    elif not busy:
        whom = "die that a process sees" if len(seen) == 1 else f"{len(seen)} dies that a process sees"
        yield Diagnosis("die-busy", Level.GOOD, f"nobody uses the {whom} here")


def _advice(free: list[Die]) -> str:
    if not free:
        return "wait, or end that process; `npu-smi info` on the host shows the processes of all containers"
    ids = ",".join(str(die.visible_id) for die in free if die.visible_id is not None)
    return f"`npu-assay device exec --dies 1 -- COMMAND` takes a free die; free here: {ids or 'some'}"
