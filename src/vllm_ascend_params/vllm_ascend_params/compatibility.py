"""Is this the vLLM and the vllm-ascend that the plug-in was written for?

The plug-in wraps internals of both, so it acts only on the versions that its own metadata names.
"""

import importlib.metadata
from collections.abc import Callable, Iterable

from packaging.requirements import Requirement


def installed_version(distribution: str) -> str | None:
    """Return the installed version of a distribution, or None where it isn't installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def departures(
    requirements: Iterable[str], version_of: Callable[[str], str | None] = installed_version
) -> list[str]:
    """Return one phrase for each requirement that the environment doesn't meet; empty where all is well."""
    found = []
    for requirement in map(Requirement, requirements):
        version = version_of(requirement.name)
        if version is None:
            found.append(f"{requirement.name} isn't installed, {requirement.specifier} expected")
        elif not requirement.specifier.contains(version, prereleases=True):
            found.append(f"{requirement.name} is {version}, {requirement.specifier} expected")
    return found
