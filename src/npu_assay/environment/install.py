"""Installing an environment: its steps in order, once, under a lock; or one step."""

import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from npu_assay.cache import folder_lock, is_complete, mark_complete, write_json, writing
from npu_assay.disk import OF_THE_CACHE, require_free
from npu_assay.environment.environment import Environment
from npu_assay.environment.fetched import require_fetched
from npu_assay.environment.obstacles import obstacles
from npu_assay.environment.steps import steps_of, steps_of_a_run
from npu_assay.environment.steps.step import Step
from npu_assay.errors import UnusableError, UsageError


class Progress(Protocol):
    """Is told what an installation does."""

    def begin(self, step: str) -> None:
        """A step begins."""

    def fail(self, step: str) -> None:
        """It failed; why is said by the error."""

    def end(self, step: str, seconds: float | None) -> None:
        """It is done, after so many seconds; None when it was done already."""

    def note(self, line: str) -> None:
        """Something else worth a line, such as a wait."""


def install(
    environment: Environment,
    progress: Progress,
    steps: Sequence[Step] | None = None,
    *,
    again: bool = False,
) -> None:
    """Install what is missing. A half-made environment is removed and made again; with `again`, any is.

    The steps are those of the variant, but for compiling vllm-ascend, unless others are given.
    `again` makes the plug-in anew too, but not the emulator: nobody can have written into that by accident.

    Raises UnusableError, before anything is done, when something is in the way or the disk is too full;
    and, with the step, when one fails: the environment then stays half-made, with its logs.
    """
    steps = steps or steps_of_a_run(environment.variant)
    made: Sequence[Step] = ()
    if again or not environment.is_made():
        with _locked(environment, progress):
            if again or not environment.is_made():
                _require_possible(environment)
                shutil.rmtree(environment.root, ignore_errors=True)
                if again:
                    shutil.rmtree(environment.adaptations_folder, ignore_errors=True)
                _require_room(environment)
                made = _up_to_the_last_stamped(steps)
                for step in made:
                    _run_unless_kept(environment, step, progress)
                _complete(environment, steps)
    for step in steps:
        if step.done is not None and step not in made:
            _run_unless_kept(environment, step, progress)


def _up_to_the_last_stamped(steps: Sequence[Step]) -> Sequence[Step]:
    """What makes the venv, with what has to be there before: steps after it are kept elsewhere in the cache,
    and one of those that fails costs no venv.
    """
    stamped = [number for number, step in enumerate(steps, start=1) if step.done is None]
    return steps[: max(stamped, default=0)]


def _run_unless_kept(environment: Environment, step: Step, progress: Progress) -> None:
    if step.done is not None and not step.always and step.done(environment):
        progress.end(step.name, None)
    else:
        _run(environment, step, progress)


def install_step(
    environment: Environment, name: str, progress: Progress, steps: Sequence[Step] | None = None
) -> None:
    """Run one step, for front ends that make an environment layer by layer.

    Raises UsageError for an unknown step, UnusableError when one that it needs has not been done.
    """
    steps = steps or steps_of(environment.variant)
    named = {step.name: step for step in steps}
    if name not in named:
        raise UsageError(f"no step {name!r}; there are {', '.join(named)}")
    step = named[name]
    with _locked(environment, progress):
        if is_done(environment, step) and not step.always:
            progress.end(name, None)
            return
        if not step.needs:
            shutil.rmtree(environment.root, ignore_errors=True)
            _require_room(environment)
        for needed in _all_needs(step, named):
            if not is_done(environment, named[needed]):
                raise UnusableError(
                    f"step {name} needs step {needed}, which is not done;"
                    f" type: npu-assay env install {environment.name} --step {needed}"
                )
        if begun := sorted(path.stem for path in _stamps(environment).glob("*.begun")):
            raise UnusableError(
                f"{environment.root}: step {', '.join(begun)} did not end well, so this is not used;"
                f" type: npu-assay env install {environment.name}, which makes it again"
            )
        _run(environment, step, progress)
        if not is_complete(environment.root) and all(
            is_done(environment, s) for s in steps if s.done is None
        ):
            _complete(environment, steps)


def _require_possible(environment: Environment) -> None:
    name = environment.name
    if in_the_way := obstacles(environment.variant):
        in_the_way += _cann_faults(environment)
        raise UnusableError(
            f"environment {name} can't be installed whole: {'; '.join(in_the_way)}; the steps up to there go"
            f" one by one: npu-assay env install {name} --device npu --step system, then cann, nnal, ..."
        )
    if environment.fetched is not None:
        require_fetched(environment.variant, environment.fetched)


def _cann_faults(environment: Environment) -> list[str]:
    """What is wrong with the host's CANN, so that everything is told at once."""
    try:
        environment.provider.locate(environment.target)
    except UnusableError as error:
        return str(error).splitlines()
    return []


def _require_room(environment: Environment) -> None:
    size = environment.lock.content.disk_mib
    require_free(environment.cache, size, f"environment {environment.name}", OF_THE_CACHE)


def is_done(environment: Environment, step: Step) -> bool:
    """Whether a step has been done to its end."""
    if step.done is not None:
        return step.done(environment)
    return (_stamps(environment) / f"{step.name}.json").is_file()


def _stamps(environment: Environment) -> Path:
    return environment.root / "steps"


def _locked(environment: Environment, progress: Progress) -> AbstractContextManager[None]:
    where = environment.root
    return folder_lock(where, lambda: progress.note(f"waiting for another npu-assay that installs {where}"))


def _all_needs(step: Step, named: dict[str, Step]) -> list[str]:
    """Everything that a step needs, directly or not, in the order of installation."""
    needed: set[str] = set()
    waiting = list(step.needs)
    while waiting:
        name = waiting.pop()
        needed.add(name)
        waiting += named[name].needs
    return [name for name in named if name in needed]


def _run(environment: Environment, step: Step, progress: Progress) -> None:
    progress.begin(step.name)
    started = time.monotonic()
    try:
        with writing(environment.root):
            if step.done is None:
                _run_stamped(environment, step, progress, started)
            else:
                step.run(environment, progress.note)
    except BaseException:
        progress.fail(step.name)
        raise
    progress.end(step.name, time.monotonic() - started)


def _run_stamped(environment: Environment, step: Step, progress: Progress, started: float) -> None:
    stamps = _stamps(environment)
    stamps.mkdir(parents=True, exist_ok=True)
    begun = stamps / f"{step.name}.begun"
    begun.touch()
    facts = step.run(environment, progress.note)
    stamp = {"step": step.name, "seconds": round(time.monotonic() - started, 1), "finished": _now(), **facts}
    write_json(stamps / f"{step.name}.json", stamp)
    begun.unlink()


def _complete(environment: Environment, steps: Sequence[Step]) -> None:
    mark_complete(
        environment.root,
        {
            "environment": environment.name,
            "kind": environment.variant.kind,
            "lock_sha256": environment.lock.sha256,
            "fetched": environment.fetched and str(environment.fetched),
            "steps": [step.name for step in steps if step.done is None],
            "finished": _now(),
        },
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
