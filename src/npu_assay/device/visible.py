"""Which dies a process sees, by CANN's ASCEND_RT_VISIBLE_DEVICES and the container's ASCEND_VISIBLE_DEVICES.

The first names logical ids and renumbers them for the process. Documented (CANN 9.1, maintenance reference,
ASCEND_RT_VISIBLE_DEVICES): ids apart by commas; of a value with other characters or invalid ids, only the ids
before them are read; ascending order only. The second names physical ids and is read by Ascend Docker Runtime
on the host, not by CANN; whether it was honoured shows only in which /dev/davinciN are there. Documented
(MindCluster, Ascend Docker Runtime): `0,2`, `0-3`, both mixed, `Ascend910-1`, `void`, empty.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from npu_assay.errors import UsageError

RT_VISIBLE_DEVICES = "ASCEND_RT_VISIBLE_DEVICES"
VISIBLE_DEVICES = "ASCEND_VISIBLE_DEVICES"

_ID = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_NAMED = re.compile(r"Ascend[0-9A-Za-z]*-([0-9]{1,9})")
_MOST = 4096
"""More devices than any host has; a range beyond it is a slip, not a list to write out."""


@dataclass(frozen=True)
class RtVisible:
    """What a process sees of the host's dies: `ids[i]` is the logical id of its device i."""

    value: str
    ids: tuple[int, ...]
    stopped_at: str | None
    """The first entry that is no id of this host: it and everything after it is not read."""
    ascending: bool

    @property
    def problem(self) -> str | None:
        """What is wrong with the value, in one line."""
        said = f"{RT_VISIBLE_DEVICES}={self.value!r}"
        seen = f"only {', '.join(map(str, self.ids))} is seen" if self.ids else "no die is seen"
        if self.stopped_at is not None:
            return (
                f"{said}: {self.stopped_at!r} is no logical id here; it and what follows is not read, {seen}"
            )
        if not self.ascending:
            return f"{said}: CANN supports ids in ascending order only"
        return None


def rt_visible(value: str, logical_ids: Collection[int]) -> RtVisible:
    """Read ASCEND_RT_VISIBLE_DEVICES against the logical ids of the host, as CANN does."""
    ids: list[int] = []
    stopped_at = None
    for entry in value.split(","):
        if not _ID.fullmatch(entry) or int(entry) not in logical_ids or int(entry) in ids:
            stopped_at = entry
            break
        ids.append(int(entry))
    return RtVisible(value, tuple(ids), stopped_at, ids == sorted(ids))


def container_visible(value: str) -> frozenset[int]:
    """The physical ids that ASCEND_VISIBLE_DEVICES names; none for `void` and for nothing.

    Raises UsageError for what Ascend Docker Runtime does not take either.
    """
    named: set[int] = set()
    if value.strip() in ("", "void"):
        return frozenset()
    for entry in map(str.strip, value.split(",")):
        if _ID.fullmatch(entry):
            named.add(int(entry))
        elif found := _NAMED.fullmatch(entry):
            named.add(int(found[1]))
        elif (ends := _RANGE.fullmatch(entry)) and 0 <= int(ends[2]) - int(ends[1]) < _MOST:
            named |= set(range(int(ends[1]), int(ends[2]) + 1))
        else:
            raise UsageError(
                f"{VISIBLE_DEVICES}={value!r}: {entry!r} is no physical id, range (0-3) or name (Ascend910-1)"
            )
    return frozenset(named)
