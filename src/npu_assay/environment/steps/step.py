"""What a step is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from npu_assay.environment.environment import Environment

#: What a step leaves in its stamp: versions, counts, whatever tells a reader what it did.
Facts = Mapping[str, object]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """One step of an installation: checks before it changes, and changes nothing the second time.

    Steps leave a stamp in the environment's steps/ folder. A step with `done` keeps its result elsewhere in
    the cache, keyed by content, and is asked instead.
    """

    name: str
    #: Steps that must be done before this one.
    needs: tuple[str, ...]
    #: Does it; returns the facts of the stamp; reports lines about waits.
    run: Callable[[Environment, Report], Facts]
    done: Callable[[Environment], bool] | None = None
    #: Of one with `done`: it runs even so, because it judges what others have put there and may change.
    always: bool = False
