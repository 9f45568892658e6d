"""Asking every room for its diagnoses. A room that can't look is a problem of its own, never silence."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.errors import AssayError

Look = Callable[[], Iterable[Diagnosis]]


@dataclass(frozen=True)
class Group:
    """What one room found, in the order in which it looked."""

    name: str
    diagnoses: tuple[Diagnosis, ...]


def examine(looks: Mapping[str, Look]) -> tuple[Group, ...]:
    """The groups in the order given. They wait for files and for npu-smi, so they look at the same time."""
    with ThreadPoolExecutor(max_workers=max(len(looks), 1)) as pool:
        found = pool.map(_look, looks.items())
        return tuple(found)


def _look(named: tuple[str, Look]) -> Group:
    name, look = named
    found: list[Diagnosis] = []
    try:
        for diagnosis in look():
            found.append(diagnosis)  # one by one, so that what came before an error is kept
    except AssayError as error:
        found.append(Diagnosis(f"{name}-unreadable", Level.PROBLEM, str(error), "see the line itself"))
    except Exception as error:
        found.append(
            Diagnosis(
                f"{name}-broke",
                Level.PROBLEM,
                f"looking at {name} broke: {type(error).__name__}: {error}",
                "this is a defect of npu-assay: report it with the output of npu-assay doctor --json",
            )
        )
    if not found:
        found.append(
            Diagnosis(
                f"{name}-silent",
                Level.PROBLEM,
                f"nothing was found to look at in {name}",
                "this is a defect of npu-assay: report it",
            )
        )
    return Group(name, tuple(found))
