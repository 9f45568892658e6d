"""The services of a compose file: one a die, or one with all of them."""

from collections.abc import Iterable
from dataclasses import replace

from npu_assay.docker.making import HostDies, Wish, recipe_of
from npu_assay.docker.recipe import ContainerRecipe


def services_of(wish: Wish, npus: HostDies, *, together: bool) -> dict[str, ContainerRecipe]:
    """Each service's recipe by its name: `npu` for all dies, else `npu0` for /dev/davinci0.

    Each of several has a folder of its own in `wish.runs`: two archives of one second would have one name.
    """
    if together:
        return {"npu": recipe_of(wish, npus)}
    recipes = {}
    for number in npus.chosen.nodes:
        name = f"npu{number}"
        one = replace(npus, chosen=replace(npus.chosen, nodes=(number,)))
        recipes[name] = recipe_of(replace(wish, runs=f"{wish.runs}/{name}"), one)
    return recipes


def folders_of(recipes: Iterable[ContainerRecipe]) -> tuple[str, ...]:
    """The folders of the host that these containers write to, each once."""
    return tuple(dict.fromkeys(folder for recipe in recipes for folder in recipe.folders))
