"""`npu-assay device`: NPUs, live or from stored npu-smi output."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from npu_assay.device.answers import Answers
from npu_assay.device.choice import run_on, take_free_dies
from npu_assay.device.container import in_container
from npu_assay.device.device_map import MappedDie, map_devices
from npu_assay.device.die import Die, Strict
from npu_assay.device.health import changes, faults_of, uses_of
from npu_assay.device.host import join, unsupported
from npu_assay.device.live import live_host
from npu_assay.device.nodes import read_nodes
from npu_assay.device.overrides import Overrides, count_line, dies_seen, dies_to_judge, log_lines
from npu_assay.device.query import NpuSmi
from npu_assay.device.reports import DeviceHealth, DeviceList, DeviceMapReport
from npu_assay.device.stored import read_answers
from npu_assay.device.visible import RT_VISIBLE_DEVICES
from npu_assay.errors import AssayError, UsageError

_FROM = click.option(
    "--from",
    "stored",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Stored npu-smi output instead of a live npu-smi: a file, or a folder of .txt files; repeatable.",
)
_DEV = click.option(
    "--dev",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder with the device nodes.  [default: /dev]",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON; schemas: src/npu_assay/schemas.")


@click.group(invoke_without_command=True)
@_FROM
@_JSON
@click.pass_context
def device(context: click.Context, stored: tuple[Path, ...], as_json: bool) -> None:
    """List NPUs, map ids, judge health, run on free ones.

    Without a command: list.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_devices, stored=stored, as_json=as_json)
    elif stored or as_json:
        raise UsageError(
            f"--from and --json stand behind the command: device {context.invoked_subcommand} ..."
        )


@device.command("list")
@_FROM
@_JSON
def list_devices(stored: tuple[Path, ...], as_json: bool) -> None:
    """List the dies. What is wrong with npu-smi's output goes to stderr too, and is no failure."""
    host = join(read_answers(stored) if stored else NpuSmi(os.environ).answers())
    _print_lines((f"npu-assay: {problem}" for problem in host.problems), err=True)
    if as_json:
        _print_json(DeviceList.of(host))
        return
    _print_dies(host.dies)
    _print_lines(host.notes)
    click.echo(f"npu-smi {host.npu_smi_version or 'of unknown version'}")


@device.command("map")
@_FROM
@_DEV
@_JSON
def map_command(stored: tuple[Path, ...], dev: Path | None, as_json: bool) -> None:
    """Show which logical id, physical id and node belong together.

    Exits 1 where they contradict each other, and where npu-smi's output was cut short.
    """
    nodes = None if stored and dev is None else read_nodes(dev or Path("/dev"))
    if stored:
        answers = read_answers(stored)
    else:
        known = () if nodes is None or in_container() else nodes.dies
        answers = NpuSmi(os.environ).answers(health="none", nodes=known)
    host = join(answers)
    here = nodes is not None  # stored output alone may be of another host, where our variables mean nothing
    device_map = map_devices(host, None if host.emulated else nodes, os.environ if here else {})
    if as_json:
        _print_json(DeviceMapReport.of(host, device_map))
    else:
        for die in device_map.dies:
            click.echo(_mapped(die))
        _print_lines((*device_map.problems, *host.notes))
        click.echo(f"dies: {len(device_map.dies)}, problems: {len(device_map.problems)}")
    if device_map.problems:
        raise AssayError(f"the ids can't be trusted: {device_map.problems[0]}")


@device.command()
@_FROM
@click.option(
    "--raw",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep npu-smi's raw output and devices.json here.",
)
@click.option("--idle", is_flag=True, help="A die that somebody uses is a problem too.")
@click.option(
    "--after",
    "before",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Compare with the raw output from before a run: the same dies, and no process left on them.",
)
@_JSON
def health(
    stored: tuple[Path, ...], raw: Path | None, idle: bool, before: Path | None, as_json: bool
) -> None:
    """Judge the dies that a process sees here.

    Exits 1 if one is not healthy, 4 if npu-smi can't be used.
    NPU_INDEX and NPU_CHIP_INDEX name another die to judge; SKIP_NPU_HEALTH_CHECK=1 leaves out the health
    query, which is printed, and makes the run no formal one.
    """
    if stored and raw is not None:
        raise UsageError("--raw keeps what a live npu-smi says; it has no use with --from")
    variables = {} if stored else os.environ  # which are about this host
    overrides = Overrides.of(variables)
    answers = _answers(stored, raw, overrides)
    host = join(answers)
    seen = dies_seen(host, variables)
    judged = dies_to_judge(host, overrides, seen)
    problems = [*host.problems, *([] if overrides.skip else faults_of(judged))]
    if idle:
        free = f"free ones: {RT_VISIBLE_DEVICES}, or `npu-assay device exec`"
        problems += [f"{use}; a run wants {free}" for use in uses_of(seen)]
    if before is not None:
        problems += changes(join(read_answers([before])), host, seen)
    report = DeviceHealth(
        npu_smi_version=host.npu_smi_version,
        devices=host.dies,
        problems=tuple(problems),
        notes=(*host.notes, *unsupported(answers)),
        judged=tuple(die.place for die in judged),
        override=overrides.words or None,
        skipped=overrides.skip,
        healthy=not problems,
    )
    if raw is not None:
        (raw / "devices.json").write_text(_as_json(report) + "\n")
    if as_json:
        _print_json(report)
    else:
        _print_dies(host.dies)
        _print_lines((*report.problems, *report.notes))
        _print_lines(log_lines(overrides, judged, seen))
        click.echo(count_line(len(host.dies), len(problems)))
    if problems:
        raise AssayError(f"not healthy: {problems[0]}")


@device.command("exec", context_settings={"ignore_unknown_options": True})
@click.option("--dies", "count", type=click.IntRange(1), default=1, show_default=True, help="How many.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def exec_command(count: int, command: tuple[str, ...]) -> None:
    """Run a command on free dies, locked while it runs.

    No other `device exec` gets them meanwhile.
    Free is a healthy die without a process and without more memory in use than the driver's own. The command
    sees these dies alone (ASCEND_RT_VISIBLE_DEVICES) and takes this process's place: signals reach it, and
    its exit code is the exit code. Exit 4 when too few dies are free, with the reason for each.
    """
    taken = take_free_dies(live_host(os.environ), count, os.environ)
    _print_lines([f"npu-assay: on {die.place}, logical id {die.visible_id}" for die in taken.dies], err=True)
    run_on(taken, command, os.environ)


def _answers(stored: tuple[Path, ...], raw: Path | None, overrides: Overrides) -> Answers:
    if stored:
        return read_answers(stored)
    return NpuSmi(os.environ, raw).answers(health="none" if overrides.skip else "all")


def _as_json(report: Strict) -> str:
    return report.model_dump_json(indent=2)


def _print_json(report: Strict) -> None:
    click.echo(_as_json(report))


def _print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    for line in lines:
        click.echo(line, err=err)


def _print_dies(dies: Iterable[Die]) -> None:
    for die in dies:
        memory = die.hbm or die.memory
        facts = [
            die.name or die.product_name or "unnamed",
            die.health or "health unknown",
            f"{'HBM' if die.hbm else 'memory'} {memory.total_mib} MiB" if memory else "memory unknown",
            die.bus_id or "no bus id",
        ]
        facts += [f"{name} {_or_dash(value)}" for name, value in (die.figures or {}).items()]
        facts += [
            f"process {one.pid} {one.name or 'unnamed'} {one.memory_mib} MiB" for one in die.processes or ()
        ]
        click.echo(f"{die.place} logical id {_or_dash(die.logical_id)}: {', '.join(facts)}")


def _mapped(die: MappedDie) -> str:
    if die.index is not None:
        index = f"device {die.index} of a process"
    elif die.visible_id is not None:
        index = "not seen by a process"
    else:
        index = "device of a process not known"
    node = "no node" if die.node is None else f"{die.node} (by {die.node_by})"
    return (
        f"{die.place}: logical id {_or_dash(die.logical_id)}, physical id {_or_dash(die.physical_id)}, "
        f"{node}, {index}"
    )


def _or_dash(number: float | None) -> str:
    return "-" if number is None else str(int(number) if float(number).is_integer() else number)
