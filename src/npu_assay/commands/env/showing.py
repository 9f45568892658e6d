"""`npu-assay env list` and `npu-assay env show`: what the locks say."""

from collections.abc import Iterator

import click

from npu_assay.commands.device_option import device_option, kind_to_show, variant_kind
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import (
    DEFAULT_ENVIRONMENT,
    DEVICE_WORD,
    Component,
    Kind,
    Lock,
    load_lock,
    lock_names,
)
from npu_assay.environment.obstacles import obstacles
from npu_assay.errors import UnusableError
from npu_assay.wording import first_of

_WIDTH = 110


@click.command("list")
@device_option(help_="The kind whose environments' state is told.")
def list_(wanted: str) -> None:
    """The environments, and what each reproduces.

    Also whether the emulator has it, and whether it is installed.
    """
    kind = variant_kind(wanted)
    names = lock_names()
    width = max(map(len, names), default=0)
    for name in names:
        lock = load_lock(name)
        click.echo(f"{name:<{width}}  {lock.content.summary}")
        indent = " " * (width + 2)
        if lock.content.reproduces:
            click.echo(f"{indent}reproduces: {lock.content.reproduces}")
        if lock.content.pipelines is not None:
            click.echo(f"{indent}pipelines: {', '.join(lock.content.pipelines)}")
        no_emulator = lock.content.hardware_only
        click.echo(_wrapped(f"emulator: {f'no, {no_emulator}' if no_emulator else 'yes'}", indent))
        if kind == "hardware" or not no_emulator:
            click.echo(_wrapped(f"--device {DEVICE_WORD[kind]}: {_state(lock, kind)}", indent))


def _wrapped(text: str, indent: str) -> str:
    return click.wrap_text(" ".join(text.split()), _WIDTH, indent, indent + "  ")


def _state(lock: Lock, kind: Kind) -> str:
    """Whether the environment of that kind is installed, in one line."""
    try:
        environment = Environment.of(lock, kind)
        in_the_way = [] if environment.is_made() else obstacles(environment.variant)
        if in_the_way:
            return f"can't be installed whole: {first_of(in_the_way[0], len(in_the_way))}"
        missing = environment.missing()
    except UnusableError as error:
        return f"can't be installed: {error}"
    return f"not installed: {', '.join(missing)}" if missing else "installed"


@click.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@device_option(help_="The variant to show; auto: the NPU's where there is an NPU, else the emulator's.")
def show(name: str, wanted: str) -> None:
    """What an environment is made of, and where it is.

    Also where it departs from upstream's matrix, and what is known against it.
    """
    lock = load_lock(name)
    kind = kind_to_show(lock, wanted)
    environment = Environment.of(lock, kind)
    variant = environment.variant
    click.echo(f"{name}: {lock.content.summary}")
    if lock.content.reproduces:
        click.echo(f"reproduces: {lock.content.reproduces}")
    click.echo(f"variant: {kind} (--device {DEVICE_WORD[kind]})\nPython {lock.content.python}\n")
    for component, pin in variant.components.items():
        for line in _described(component, pin):
            click.echo(line)
    for component, why in variant.absent.items():
        click.echo(f"{component:<14} absent")
        click.echo(_wrapped(why, "    "))
    if variant.unverified:
        click.echo(
            f"\nunverified: {', '.join(variant.unverified)}; formal mode refuses a run with these until"
            f" their hashes are recorded: npu-assay env lock {name} --record FILE"
        )
    click.echo(f"\nlock    {lock.path} (sha256 {lock.sha256})\nfolder  {environment.root}")
    click.echo(f"state   {_state(lock, kind)}")


def _described(name: str, pin: Component) -> Iterator[str]:
    build = f" ({pin.build})" if pin.build else ""
    yield f"{name:<14} {pin.version + build:<18} {pin.source}"
    if pin.commit:
        yield f"    commit     {pin.commit}"
    if pin.repository:
        yield f"    repository {pin.repository}"
    if pin.file:
        yield f"    file       {pin.file}"
    if pin.image:
        yield f"    image      {pin.image.tag}@{pin.image.digest}"
    for architecture, sha256 in pin.sha256.items():
        yield f"    {architecture:<10} sha256 {sha256}"
    if pin.deviation:
        yield _wrapped(pin.deviation, "    ")
    for note in pin.notes:
        yield _wrapped(f"note: {note}", "    ")
