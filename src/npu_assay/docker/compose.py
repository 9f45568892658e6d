"""Recipes as a compose file: a service each.

Strings are written as JSON has them, which is YAML too; a dollar is doubled, as compose puts in variables.
"""

import json
from collections.abc import Iterator, Mapping

from npu_assay.docker.recipe import ContainerRecipe, Mount


def compose_file(services: Mapping[str, ContainerRecipe], head: str) -> str:
    """The whole file; `head` becomes its first lines, as comments."""
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    lines.append("services:")
    for name, recipe in services.items():
        lines += [f"  {name}:", *(f"    {line}" for line in _service(recipe))]
    return "\n".join(lines) + "\n"


def _service(recipe: ContainerRecipe) -> Iterator[str]:
    yield f"image: {_quoted(recipe.image)}"
    if recipe.arguments:
        yield f"command: [{', '.join(map(_quoted, recipe.arguments))}]"
    yield "init: true"
    yield f"user: {_quoted(recipe.user.value)}  # {recipe.user.why}"
    if recipe.groups:
        yield "group_add:"
        for group in recipe.groups:
            yield f"  - {_quoted(group.value)}  # {group.why}"
    if recipe.nodes:
        yield "devices:"
        for node in recipe.nodes:
            yield f"  - {_quoted(f'{node.path}:{node.path}')}  # {node.why}"
    yield "volumes:"
    for mount in recipe.mounts:
        yield f"  # {mount.why}"
        yield f"  - {_volume(mount)}"
    if recipe.variables:
        yield "environment:"
        for variable in recipe.variables:
            yield f"  {variable.name}: {_quoted(variable.value)}  # {variable.why}"
    yield f"shm_size: {_quoted(recipe.shm_size.value)}  # {recipe.shm_size.why}"
    yield f"network_mode: {_quoted(recipe.network.value)}  # {recipe.network.why}"
    yield "read_only: true"
    yield f"tmpfs: [{_quoted(recipe.tmpfs.value)}]  # {recipe.tmpfs.why}"
    yield f"working_dir: {_quoted(recipe.workdir.value)}"


def _volume(mount: Mount) -> str:
    if mount.source is None:
        return f"{{type: volume, target: {_quoted(mount.target)}}}"
    entries = ["type: bind", f"source: {_quoted(mount.source)}", f"target: {_quoted(mount.target)}"]
    if mount.read_only:
        entries.append("read_only: true")
    entries.append("bind: {create_host_path: false}")
    return f"{{{', '.join(entries)}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("$", "$$")
