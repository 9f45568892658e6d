"""Differences in the files of installed distributions."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from npu_assay.diagnosis import Level
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look
from npu_assay.environment.lock import OF_CANN
from npu_assay.environment.record import Damage, RecordedFile, damage_of
from npu_assay.errors import UsageError
from npu_assay.wording import some

#: Components whose Python is hashed by every check: small, and what people edit by hand.
_HASHED = ("torch-npu", "triton-ascend", "vllm-ascend")
_SMALL = 1 << 20
_SHOWN = 3


def of_components(look: Look) -> Iterator[Difference]:
    """Their files are there, with their sizes. Fast enough for doctor."""
    return _files(look, _component_names(look), lambda name, row: False)


def of_all(look: Look) -> Iterator[Difference]:
    """The files of components and requirements; the bytes of small Python files of those for Ascend."""
    return _files(
        look,
        [*_component_names(look), *look.pins],
        lambda name, row: name in _HASHED and row.path.endswith(".py") and (row.size or 0) <= _SMALL,
    )


def of_all_with_their_bytes(look: Look) -> Iterator[Difference]:
    """As `of_all`, with every byte."""
    return _files(look, [*_component_names(look), *look.pins], lambda name, row: True)


def _component_names(look: Look) -> list[str]:
    return [name for name in look.variant.components if name not in OF_CANN]


def _files(
    look: Look, names: Iterable[str], hashed: Callable[[str, RecordedFile], bool]
) -> Iterator[Difference]:
    for name in names:
        there = look.one(name)
        if there is None:
            continue
        is_component = name in look.variant.components
        advice = (
            look.mend.install(look.variant, name)
            if is_component
            else look.mend.again
            or f"{look.mend.pip} install --no-deps --force-reinstall {name}=={there.version}"
        )
        try:
            # Beside its dist-info: what was compiled is not in site-packages.
            damage = damage_of(there, there.dist_info.parent, partial(hashed, name))
        except UsageError as error:
            yield _broken(name, str(error), advice)
            continue
        if damage is None:
            yield _broken(name, f"{there.dist_info} has no RECORD, so its files can't be told", advice)
        elif damage:
            yield _broken(name, f"{name} {there.version}: {_words(damage)}", advice)


def _broken(name: str, message: str, advice: str) -> Difference:
    return Difference(
        check="distribution-files",
        level=Level.PROBLEM,
        subject=name,
        message=message,
        advice=advice,
    )


def _words(damage: Damage) -> str:
    parts = [
        f"{len(files)} of {damage.files} files {what}: {some(files, _SHOWN)}"
        for what, files in (("are gone", damage.missing), ("are not as installed", damage.changed))
        if files
    ]
    return "; ".join(parts)
