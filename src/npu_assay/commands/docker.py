"""`npu-assay docker`: commands that give a container what it needs of this host."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import click

from npu_assay.becoming import become
from npu_assay.commands.device_option import device_option
from npu_assay.commands.docker_build import build_command, sizes_command
from npu_assay.device.container import in_container
from npu_assay.device.host import join
from npu_assay.device.kind import Wanted, choose_kind
from npu_assay.device.live import live_host
from npu_assay.device.locks import lock_folder
from npu_assay.device.stored import read_answers
from npu_assay.docker.command_line import explained, folder_commands, shell_command, words_of
from npu_assay.docker.compose import compose_file
from npu_assay.docker.dies import choose_dies
from npu_assay.docker.folders import leads_out, make_folders
from npu_assay.docker.host_files import read_host_files
from npu_assay.docker.identity import identify
from npu_assay.docker.making import SHM_SIZE, HostDies, Wish, recipe_of
from npu_assay.docker.recipe import ContainerRecipe
from npu_assay.docker.services import folders_of, services_of
from npu_assay.errors import AssayError, UsageError

_Command = Callable[..., Any]
_ARGUMENTS = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_OPTIONS: tuple[Callable[[_Command], _Command], ...] = (
    click.option(
        "--model",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="A model's folder, given read-only under the same path.",
    ),
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("runs"),
        show_default=True,
        metavar="DIR",
        help="Folder of the host for archives.",
    ),
    click.option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Folder of the host that keeps what a run builds of its own vllm-ascend; "
        "what the image has built is not seen then.",
    ),
    click.option("--shm-size", default=SHM_SIZE, show_default=True, help="Size of /dev/shm, a limit."),
    click.option("--network", default="none", show_default=True, help="The container's network."),
    click.option(
        "--from",
        "stored",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Stored npu-smi output instead of a live npu-smi; repeatable.",
    ),
    click.option(
        "--root", type=click.Path(path_type=Path), default=Path("/"), hidden=True, help="The host's root."
    ),
)


@click.group()
def docker() -> None:
    """Images: build one, tell what it is made of, start it with what it needs of this host's NPUs."""


def _options(command: _Command) -> _Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@docker.command("run", context_settings=_ARGUMENTS)
@device_option(help_="auto: the NPU where there is one; emulated: nothing of the host's NPUs is given.")
@click.option("--dies", type=click.IntRange(1), default=1, show_default=True, help="How many free dies.")
@click.option("--tty", "-t", is_flag=True, help="With a terminal.")
@click.option("--explain", is_flag=True, help="An option a line with its reason, to be read.")
@click.option("--exec", "run_it", is_flag=True, help="Run it instead of printing it.")
@_options
@click.argument("image")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def run_command(
    wanted: str, dies: int, tty: bool, explain: bool, run_it: bool, image: str, **given: Any
) -> None:
    """Print the whole `docker run` of IMAGE for the free dies of this host.

    ARGS are what runs in it. The folders that it writes to are made by the lines before it, or with --exec.
    Exits 1 when the host lacks something that it needs, with the --device or -v in question for each; 4 when
    too few dies are free.
    """
    if explain and run_it:
        raise UsageError("--explain prints, --exec runs: give one of them")
    kind, _ = choose_kind(cast(Wanted, wanted), cast(Path, given["root"]) / "dev")
    wish = _wish(image, given)
    npus = None if kind == "emulated" else _npus(given, dies)
    recipe = recipe_of(wish, npus)
    _say(recipe, given)
    if run_it:
        _require(recipe)
        make_folders(recipe.folders, wish.locks)
        become(words_of(recipe, tty=tty), os.environ, "install docker, or leave out --exec")
    if explain:
        click.echo(explained(recipe, tty=tty))
    else:
        for line in folder_commands(_absent(recipe), wish.locks):
            click.echo(line)
        click.echo(shell_command(recipe, tty=tty))
    _require(recipe)


@docker.command("compose", context_settings=_ARGUMENTS)
@click.option("--dies", type=click.IntRange(1), help="How many free dies.  [default: all]")
@click.option("--together", is_flag=True, help="One service with all of them instead of one each.")
@_options
@click.argument("image")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def compose_command(dies: int | None, together: bool, image: str, **given: Any) -> None:
    """Print a compose file with a service of IMAGE for every free die of this host.

    Exits as `docker run` does. docker/compose.yaml is an example of it.
    """
    wish = _wish(image, given)
    services = services_of(wish, _npus(given, dies), together=together)
    recipes = tuple(services.values())
    _say(recipes[0], given)
    head = ("Written by npu-assay docker compose.", *folder_commands(_absent(*recipes), wish.locks))
    click.echo(compose_file(services, "\n".join(head)), nl=False)
    _require(*recipes)


docker.add_command(build_command)
docker.add_command(sizes_command)


def _wish(image: str, given: dict[str, Any]) -> Wish:
    if image.startswith("-"):
        raise UsageError(f"{image}: no such option, and no image; options stand before the image")
    model: Path | None = given["model"]
    cache: Path | None = given["cache"]
    identity = identify(image)
    if identity.digest is None:
        without = "the archive will not say which image it was"
        click.echo(f"npu-assay: {image}: no digest here, so {without}: {identity.why}", err=True)
    return Wish(
        image=image,
        arguments=given["arguments"],
        runs=str(given["out"].absolute()),
        cache=None if cache is None else str(cache.absolute()),
        model=None if model is None else str(model.absolute()),
        locks=str(lock_folder().absolute()),
        user_id=os.getuid(),
        group_id=os.getgid(),
        shm_size=given["shm_size"],
        network=given["network"],
        digest=identity.digest,
    )


def _npus(given: dict[str, Any], dies: int | None) -> HostDies:
    root: Path = given["root"]
    files = read_host_files(root)
    stored: tuple[Path, ...] = given["stored"]
    host = join(read_answers(stored)) if stored else live_host(os.environ, root / "dev")
    return HostDies(files, choose_dies(host, files.dies, dies, os.environ))


def _say(recipe: ContainerRecipe, given: dict[str, Any]) -> None:
    """What somebody should know besides; on stderr, as the command itself may be piped."""
    notes = list(recipe.notes)
    if recipe.nodes and in_container(given["root"]):
        notes.append("this is a container: docker takes the paths and nodes of the host, which may be others")
    model: Path | None = given["model"]
    if model is not None and (out := leads_out(model)) is not None:
        notes.append(f"{out} leads out of {model}, which a container does not see; give a copy (cp -rL)")
    for note in notes:
        click.echo(f"npu-assay: {note}", err=True)


def _absent(*recipes: ContainerRecipe) -> tuple[str, ...]:
    return tuple(folder for folder in folders_of(recipes) if not Path(folder).exists())


def _require(*recipes: ContainerRecipe) -> None:
    """Raises AssayError where the host lacks something; all but the last line go to stderr at once."""
    missing = list(dict.fromkeys(line for recipe in recipes for line in recipe.missing))
    for line in missing[:-1]:
        click.echo(f"npu-assay: {line}", err=True)
    if missing:
        raise AssayError(missing[-1])
