"""What doctor says about an environment: every drift that can be seen in half a second, and what is known.

Files are read, nothing is imported, no process is started; `npu-assay env check` looks at more.
"""

import shlex
from collections.abc import Iterator

from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.environment.drift import files, packages
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look, look_at
from npu_assay.environment.drift.report import QUICK
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import DEVICE_WORD
from npu_assay.environment.obstacles import obstacles
from npu_assay.environment.plugins import module_is_there, plugins
from npu_assay.environment.variant import Variant
from npu_assay.wording import some

_SHOWN = 5


def diagnose(environment: Environment) -> list[Diagnosis]:
    """An environment that npu-assay makes: is it there, and all that `diagnose_packages` says."""
    if not environment.is_made():
        return [
            Diagnosis(
                check="environment-installed",
                level=Level.PROBLEM,
                message=f"environment {environment.name} is not installed in {environment.root}",
                advice=_how_to_get(environment.variant),
            )
        ]
    return diagnose_packages(look_at(environment))


def _how_to_get(variant: Variant) -> str:
    """What can be typed with success: a variant that has obstacles is not installed whole by this release."""
    if not obstacles(variant):
        return variant.install_command
    return (
        "make it in a venv of your own, then"
        f" npu-assay doctor {variant.lock.name} --device {DEVICE_WORD[variant.kind]} --venv DIR;"
        f" what is in the way of installing it here: {variant.install_command}"
    )


def diagnose_packages(look: Look) -> list[Diagnosis]:
    """A site-packages folder against its variant, whoever made it."""
    found = [_of(difference) for compare in (*QUICK, files.of_components) for difference in compare(look)]
    found += _requirements(look)
    if not any(diagnosis.level is Level.PROBLEM for diagnosis in found):
        found.append(_good(look))
    return [*found, *_plugins(look), *_unverified(look), *_known(look), *_extras(look)]


def _of(difference: Difference) -> Diagnosis:
    return Diagnosis(difference.check, difference.level, difference.message, difference.advice)


def _good(look: Look) -> Diagnosis:
    versions = ", ".join(
        f"{name} {version}" for name, version in look.variant.versions.items() if look.one(name)
    )
    return Diagnosis(
        "environment",
        Level.GOOD,
        f"{look.variant.lock.name} ({look.variant.kind}) is as the lock says: {versions}",
    )


def _requirements(look: Look) -> Iterator[Diagnosis]:
    """All of them in one, as one command mends them."""
    differences = list(packages.requirements(look))
    if len(differences) == 1:
        yield _of(differences[0])
    elif differences:
        file = look.variant.lock.requirements_file
        yield Diagnosis(
            "requirements",
            Level.PROBLEM,
            f"{len(differences)} of {len(look.pins)} requirements are not as the lock says:"
            f" {some([_in_short(difference) for difference in differences], _SHOWN)}",
            look.mend.again
            or f"{look.mend.pip} install --no-deps --require-hashes -r {shlex.quote(str(file))}",
        )


def _in_short(difference: Difference) -> str:
    return f"{difference.subject} {difference.found or 'missing'}"


def _plugins(look: Look) -> Iterator[Diagnosis]:
    """vLLM's optional plug-ins whose module is missing, such as msserviceprofiler's."""
    for plugin in plugins(look.site_packages):
        if not module_is_there(look.site_packages, plugin.module):
            yield Diagnosis(
                "vllm-plugin-module",
                Level.WARNING,
                f"plug-in {plugin.name} ({plugin.group}) of {plugin.distribution}: the module {plugin.module}"
                " is not there; vLLM logs that and goes on without it",
                f"leave it, or install what brings the module {plugin.module.partition('.')[0]}",
            )


def _unverified(look: Look) -> Iterator[Diagnosis]:
    if names := look.variant.unverified:
        yield Diagnosis(
            "unverified",
            Level.WARNING,
            f"no hash is recorded for {', '.join(names)}: formal mode refuses runs with"
            f" {'it' if len(names) == 1 else 'them'}",
            f"npu-assay env lock {look.variant.lock.name} --record FILE",
        )


def _known(look: Look) -> Iterator[Diagnosis]:
    """What the lock knows about exactly these versions."""
    for name, notes in look.variant.notes.items():
        for note in notes:
            yield Diagnosis("component-note", Level.NOTE, f"{name} {look.variant.versions[name]}: {note}")
    for name, why in look.variant.absent.items():
        yield Diagnosis("component-absent", Level.NOTE, f"{name} is absent on the emulator: {why}")


def _extras(look: Look) -> Iterator[Diagnosis]:
    names = [difference.subject for difference in packages.extras(look)]
    if names:
        yield Diagnosis(
            "extra-distributions",
            Level.NOTE,
            f"{len(names)} distributions are installed that the lock does not name: {some(names, _SHOWN)}",
        )
