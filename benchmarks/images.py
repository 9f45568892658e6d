"""Measure what an image takes to be built again after a change of one line; see README.md here.

./.venv/bin/python benchmarks/images.py [--fetched DIR] [--repetitions N] [--write]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import click
from image_times import OrderTimes, excesses, table
from machine import describe_machine, today
from report import IMAGES, write_report
from source_first import source_first

from npu_assay.disk import require_free
from npu_assay.errors import AssayError, UnusableError
from npu_assay.logged import run_logged
from npu_assay.project import ROOT

# The engine is that of the tests.
sys.path.insert(0, str(ROOT / "tests" / "docker"))
import own_daemon
from debian_base import make_base
from engine import Build, Engine, find_client, missing

README = Path(__file__).with_name("README.md")
TARGET = "cann900-vllm018-emulated-x86_64"
DOCKERFILE = Path("docker", "Dockerfile")
#: Beside the real one, with its ignore file: BuildKit takes that by the name of the Dockerfile.
SOURCE_FIRST = Path("docker", "source-first.Dockerfile")
_SPACE_MIB = 20_000

#: Builds the image as it is now, with a Dockerfile of the checkout; seconds.
Builder = Callable[[Path], float]


def change_plug_in(checkout: Path) -> None:
    """Another line in the plug-in, which no build has seen."""
    with (checkout / "src/vllm_ascend_params/vllm_ascend_params/__init__.py").open("a") as file:
        file.write(f"# {uuid4()}\n")


CHANGES: Mapping[str, Callable[[Path], None]] = {"a line of the plug-in": change_plug_in}


def measure(order: str, dockerfile: Path, checkout: Path, build: Builder, repetitions: int) -> OrderTimes:
    """A cold build, then a build after each change, so many times."""
    cold = build(dockerfile)
    click.echo(f"{order}: cold {cold:.1f} s", err=True)
    rebuilds: dict[str, list[float]] = {change: [] for change in CHANGES}
    for _ in range(repetitions):
        for change, apply in CHANGES.items():
            apply(checkout)
            rebuilds[change].append(build(dockerfile))
            click.echo(f"{order}: after {change} {rebuilds[change][-1]:.1f} s", err=True)
    return OrderTimes(order, cold, rebuilds)


def copy_checkout(folder: Path) -> None:
    """The checkout as it is, but what git ignores; with the Dockerfile of the other order beside ours."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / SOURCE_FIRST).write_text(source_first((folder / DOCKERFILE).read_text()))
    shutil.copy(folder / f"{DOCKERFILE}.dockerignore", folder / f"{SOURCE_FIRST}.dockerignore")


@dataclass(frozen=True)
class Bakery:
    """An engine, and what it builds from."""

    engine: Engine
    checkout: Path
    fetched: Path

    def build(self, dockerfile: Path) -> float:
        """Seconds until there is an image that can be run.

        Raises AssayError with the last lines of a build that fails.
        """
        started = time.monotonic()
        build = self.engine.bake(
            TARGET,
            variables={"FETCHED": str(self.fetched)},
            sets=[f"*.dockerfile={dockerfile}"],
            checkout=self.checkout,
        )
        seconds = time.monotonic() - started
        _require(build)
        return seconds

    def forget(self) -> None:
        """Remove what builds left but the base: the next one is as cold as the first."""
        self.engine.docker("image", "prune", "--force")
        self.engine.docker("image", "rm", "--force", f"npu-assay-tests:{TARGET}")
        self.engine.docker("builder", "prune", "--all", "--force")


def _require(build: Build) -> None:
    if build.returncode != 0:
        end = "\n".join(build.log.splitlines()[-20:])
        raise AssayError(f"building {TARGET} ended with exit code {build.returncode}:\n{end}")


@contextmanager
def bakery(scratch: Path, fetched: Path | None) -> Iterator[Bakery]:
    """An engine that has nothing but the base, a copy of the checkout, and all files of the environment."""
    if reason := missing():
        raise UnusableError(reason)
    require_free(scratch, _SPACE_MIB, "building images", "make room, or name another folder with --scratch")
    checkout, config = scratch / "checkout", scratch / "config"
    checkout.mkdir()
    config.mkdir()
    copy_checkout(checkout)
    if fetched is None:
        fetched = scratch / "fetched"
        command = [
            sys.executable,
            "-m",
            "npu_assay",
            "env",
            "fetch",
            "--device",
            "emulated",
            "--to",
            str(fetched),
        ]
        run_logged(
            command, scratch / "fetch.log", doing="fetching the environment's files", variables=os.environ
        )
    try:
        with own_daemon.running(scratch / "engine") as host:
            engine = Engine(host, find_client(config) or "docker", config)
            make_base(engine)
            yield Bakery(engine, checkout, fetched.resolve())
    except own_daemon.DaemonError as error:
        raise UnusableError(str(error)) from error


def both_orders(bakery: Bakery, repetitions: int) -> list[OrderTimes]:
    """Ours, and the source first: its rebuilds are all but cold builds, so that one of each has to do."""
    ours = measure("a step each, ours", DOCKERFILE, bakery.checkout, bakery.build, repetitions)
    bakery.forget()
    other = measure("the source first, as upstream's", SOURCE_FIRST, bakery.checkout, bakery.build, 1)
    return [ours, other]


@click.command(help=__doc__.splitlines()[0])
@click.option(
    "--repetitions", type=click.IntRange(min=1), default=5, show_default=True, help="Changes of a kind."
)
@click.option(
    "--fetched",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of `env fetch`; without it, it is fetched before anything is measured.",
)
@click.option(
    "--scratch", type=click.Path(path_type=Path), help="Where the engine keeps its data; 20 GB of room."
)
@click.option("--write", is_flag=True, help="Put the result into README.md beside this program.")
def main(repetitions: int, fetched: Path | None, scratch: Path | None, write: bool) -> None:
    """Print the result; exit 1 when something took more than it may."""
    try:
        machine = describe_machine()
        with (
            tempfile.TemporaryDirectory(prefix="npu-assay-images-", dir=scratch) as folder,
            bakery(Path(folder), fetched) as found,
        ):
            version = found.engine.docker("version", "--format", "{{.Server.Version}}").stdout.strip()
            orders = both_orders(found, repetitions)
    except AssayError as error:
        click.echo(f"images.py: {error}", err=True)
        sys.exit(error.exit_code)
    facts = {"target": TARGET, "engine": f"Docker {version}", "machine": machine, "date": today()}
    result = table(orders) + "\n" + "".join(f"- {name}: {fact}\n" for name, fact in facts.items())
    click.echo(result, nl=False)
    if write:
        write_report(README, IMAGES, result)
    too_much = list(excesses(orders[0]))
    for line in too_much:
        click.echo(f"TOO MUCH: {line}", err=True)
    sys.exit(1 if too_much else 0)


if __name__ == "__main__":
    main()
