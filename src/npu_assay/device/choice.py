"""Choose dies that are free, and keep them: healthy, unused by processes and memory, and locked."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from npu_assay.becoming import become
from npu_assay.device.die import Die
from npu_assay.device.health import faults_of
from npu_assay.device.host import Host
from npu_assay.device.idle import is_measured, use_of
from npu_assay.device.locks import DieLock, holder, lock_folder, try_lock
from npu_assay.device.overrides import dies_seen
from npu_assay.device.visible import RT_VISIBLE_DEVICES
from npu_assay.errors import UnusableError, UsageError


@dataclass(frozen=True)
class Taken:
    """Dies that are this run's as long as the locks are held."""

    locks: tuple[DieLock, ...]

    @property
    def dies(self) -> tuple[Die, ...]:
        return tuple(lock.die for lock in self.locks)

    @property
    def visible_devices(self) -> str:
        """The value of ASCEND_RT_VISIBLE_DEVICES: logical ids, ascending as CANN wants them."""
        return ",".join(str(one) for one in sorted(_logical(die) for die in self.dies))

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Of the locks, to hand down."""
        return tuple(lock.descriptor for lock in self.locks)

    def release(self) -> None:
        for lock in self.locks:
            lock.release()


def take_free_dies(host: Host, count: int, variables: Mapping[str, str], folder: Path | None = None) -> Taken:
    """Lock `count` free dies among those that these variables let a process see, in their order.

    Raises UnusableError that says of every die why it was not taken; then none is locked. No die of an output
    that was cut short is taken: what is missing may be what uses it.
    """
    if host.cut:
        raise UnusableError(f"{count} free dies wanted, none can be called free: {host.cut[0]}")
    folder = folder or lock_folder(variables)
    if host.emulated:  # whose bus ids are those of the host's own dies
        folder = folder / "emulated"
    locks: list[DieLock] = []
    reasons: list[str] = []
    for die in dies_seen(host, variables):
        if len(locks) == count:
            break
        reason = why_not(die)
        lock = None if reason else try_lock(die, folder)
        if lock is not None:
            locks.append(lock)
        else:
            reasons.append(reason or f"{die.place}: locked by {holder(die, folder)}")
    if len(locks) < count:
        for lock in locks:
            lock.release()
        why = "; ".join(reasons) or "there are no more, or ASCEND_RT_VISIBLE_DEVICES hides them"
        raise UnusableError(f"{count} free dies wanted, {len(locks)} found: {why}")
    return Taken(tuple(locks))


def why_not(die: Die) -> str | None:
    """Why a die can't be taken; None for a free one. What is not known is never taken for good."""
    if faults := faults_of([die]):
        return faults[0]
    if use := use_of(die):
        return f"{die.place}: {use}"
    if not is_measured(die):
        what = "what runs on it" if die.processes is None else "its memory use"
        return f"{die.place}: {what} is not known"
    if die.visible_id is None:
        return f"{die.place}: npu-smi shows no logical id, which {RT_VISIBLE_DEVICES} needs"
    return None


def _logical(die: Die) -> int:
    assert die.visible_id is not None, "why_not() refuses a die without logical id"
    return die.visible_id


def run_on(taken: Taken, command: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Become `command`, which sees the taken dies alone and inherits their locks.

    So signals and the exit code are its own, and a die is free again when the command and all that it started
    are gone. Raises UsageError when there is no such command.
    """
    for lock in taken.locks:
        os.set_inheritable(lock.descriptor, True)
    try:
        become(command, {**variables, RT_VISIBLE_DEVICES: taken.visible_devices})
    except UsageError:
        taken.release()
        raise
