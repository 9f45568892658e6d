"""A recipe as a command for a shell."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from npu_assay.docker.recipe import ContainerRecipe


@dataclass(frozen=True)
class Option:
    """Words that belong together on one line, and why they are there."""

    words: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return shlex.join(self.words)


def options_of(recipe: ContainerRecipe, *, tty: bool = False) -> tuple[Option, ...]:
    """Every option of `docker run`, in the order in which they are written."""
    return tuple(_options(recipe, tty))


def _options(recipe: ContainerRecipe, tty: bool) -> Iterator[Option]:
    yield Option(("--rm",), "nothing of the container is left")
    yield Option(("--init",), "signals reach the command, and processes that nobody waits for end")
    if tty:
        yield Option(("--interactive", "--tty"), "a terminal, as asked for")
    for setting in (recipe.user, *recipe.groups):
        yield Option((setting.name, setting.value), setting.why)
    for node in recipe.nodes:
        yield Option(("--device", node.path), node.why)
    for mount in recipe.mounts:
        words = (mount.source, mount.target, "ro" if mount.read_only else None)
        yield Option(("-v", ":".join(word for word in words if word)), mount.why)
    for variable in recipe.variables:
        yield Option(("--env", f"{variable.name}={variable.value}"), variable.why)
    yield Option((recipe.shm_size.name, recipe.shm_size.value), recipe.shm_size.why)
    yield Option((recipe.network.name, recipe.network.value), recipe.network.why)
    yield Option(("--read-only",), "the image stays as it is: only the mounts and the tmpfs are written to")
    yield Option((recipe.tmpfs.name, recipe.tmpfs.value), recipe.tmpfs.why)
    yield Option((recipe.workdir.name, recipe.workdir.value), recipe.workdir.why)


def words_of(recipe: ContainerRecipe, *, tty: bool = False) -> list[str]:
    """The whole command, as words."""
    options = [word for option in options_of(recipe, tty=tty) for word in option.words]
    return ["docker", "run", *options, recipe.image, *recipe.arguments]


def shell_command(recipe: ContainerRecipe, *, tty: bool = False) -> str:
    """The whole command for a shell, an option a line."""
    lines = ["docker run", *map(str, options_of(recipe, tty=tty))]
    lines.append(_inside(recipe))
    return " \\\n  ".join(lines)


def explained(recipe: ContainerRecipe, *, tty: bool = False) -> str:
    """An option a line, each with its reason: to be read, not to be typed."""
    options = options_of(recipe, tty=tty)
    width = min(60, max(len(str(option)) for option in options))
    lines = [f"{option!s:<{width}}  # {option.why}" for option in options]
    return "\n".join(("docker run", *(f"  {line}" for line in lines), f"  {_inside(recipe)}"))


def _inside(recipe: ContainerRecipe) -> str:
    """The image and what runs in it."""
    return shlex.join((recipe.image, *recipe.arguments))


def folder_commands(folders: tuple[str, ...], locks: str) -> list[str]:
    """What makes the folders that a container writes to; that of locks is for every user of the host."""
    own = [folder for folder in folders if folder != locks]
    commands = [shlex.join(("mkdir", "-p", *own))] if own else []
    if locks in folders:
        commands.append(shlex.join(("install", "-d", "-m", "1777", locks)))
    return commands
