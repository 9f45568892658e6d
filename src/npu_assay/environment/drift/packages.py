"""Differences in Python and in the distributions that are installed."""

import re
from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from npu_assay.diagnosis import Level
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look
from npu_assay.environment.lock import OF_CANN, Component
from npu_assay.environment.tritons import OTHERS

#: Distributions that every venv or our own doings have.
_EXPECTED = ("pip", "vllm-ascend-params")


def python(look: Look) -> Iterator[Difference]:
    """Its version: on hardware the whole of it, on the emulator the minor one.

    Another patch release runs the same wheels: a warning.
    """
    wanted = look.variant.lock.content.python
    found = look.python_version
    exact = look.variant.kind == "hardware"
    if found is None or (found == wanted if exact else _minor(found) == _minor(wanted)):
        return
    expected = wanted if exact else f"{_minor(wanted)} (any)"
    yield Difference(
        check="python-version",
        level=Level.WARNING if _minor(found) == _minor(wanted) else Level.PROBLEM,
        subject="python",
        expected=expected,
        found=found,
        message=f"Python is {found}, the lock says {expected}",
        advice=f"install Python {wanted if exact else _minor(wanted)} and make the environment with it",
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def components(look: Look) -> Iterator[Difference]:
    """Each component that is a Python distribution: is it there, in the lock's version?"""
    for name, component in look.variant.components.items():
        if name in OF_CANN:
            continue
        there = look.one(name)
        advice = look.mend.install(look.variant, name)
        if name in look.compiled and look.mend.rest:
            advice = look.mend.rest
        if there is None:
            yield _missing("component-missing", name, component.version, advice)
        elif not is_version(there.version, component):
            yield _version("component-version", name, component.version, there.version, advice)


def is_version(found: str, component: Component) -> bool:
    """Whether that is the component's version, or its commit.

    A local part (+cpu, +empty) is a build of the same version. setuptools-scm names a build from git after
    its commit, as in 0.1.dev1+g72dc68973.
    """
    if component.commit and (built := re.search(r"\+g([0-9a-f]{7,40})\b", found)):
        return component.commit.startswith(built[1])
    return _public(found) == _public(component.version)


def _public(version: str) -> str:
    try:
        return Version(version).public
    except InvalidVersion:
        return version


def requirements(look: Look) -> Iterator[Difference]:
    """Each requirement: is it there, in the pinned version?"""
    for name, pin in look.pins.items():
        there = look.one(name)
        advice = look.mend.require(name, pin.version)
        if there is None:
            yield _missing("requirement-missing", name, pin.version, advice)
        elif _public(there.version) != _public(pin.version):
            yield _version("requirement-version", name, pin.version, there.version, advice)


def _missing(check: str, name: str, expected: str, advice: str) -> Difference:
    return Difference(
        check=check,
        level=Level.PROBLEM,
        subject=name,
        expected=expected,
        message=f"{name} is not installed, the lock says {expected}",
        advice=advice,
    )


def _version(check: str, name: str, expected: str, found: str, advice: str) -> Difference:
    return Difference(
        check=check,
        level=Level.PROBLEM,
        subject=name,
        expected=expected,
        found=found,
        message=f"{name} is {found}, the lock says {expected}",
        advice=advice,
    )


def duplicates(look: Look) -> Iterator[Difference]:
    """Two distributions of one name, of which nobody knows whose files are there."""
    for name, found in look.distributions.items():
        if len(found) > 1:
            versions = ", ".join(sorted(one.version for one in found))
            yield Difference(
                check="duplicate-distribution",
                level=Level.PROBLEM,
                subject=name,
                found=versions,
                message=f"{name} is installed {len(found)} times, as {versions}",
                advice=look.mend.again or _once_again(look, name, len(found)),
            )


def _once_again(look: Look, name: str, count: int) -> str:
    """pip takes away one at a time."""
    if name in look.variant.components:
        install = look.mend.install(look.variant, name)
    else:
        pin = look.pins.get(name)
        install = look.mend.require(name, pin.version) if pin else ""
    return "; ".join(filter(None, [*[f"{look.mend.pip} uninstall -y {name}"] * count, install]))


def extras(look: Look) -> Iterator[Difference]:
    """Distributions that the lock does not name."""
    named = {*look.variant.components, *look.pins, *OTHERS, *_EXPECTED}
    for name in sorted(look.distributions.keys() - named):
        version = look.distributions[name][-1].version
        yield Difference(
            check="extra-distribution",
            level=Level.WARNING,
            subject=name,
            found=version,
            message=f"{name} {version} is installed, the lock does not name it",
        )
