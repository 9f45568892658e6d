"""The dies of a run: taken when it is known that nothing else is in its way, and held to its end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from npu_assay.device.choice import Taken, take_free_dies
from npu_assay.device.die import Die
from npu_assay.device.live import live_host
from npu_assay.device.overrides import dies_seen
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import Kind
from npu_assay.errors import UnusableError
from npu_assay.evidence.manifest import DeviceRecord, DieRecord


@contextmanager
def taken_dies(
    wanted: int, variables: Mapping[str, str], dev: Path = Path("/dev"), locks: Path | None = None
) -> Iterator[Taken]:
    """Free dies, locked for the time of the block: as many as wanted, or all that a process sees if it sees
    fewer (a stage that needs more is not applicable then).

    `locks` is the folder of the locks where that is not the host's. Raises UnusableError that says of every
    die why it is not free.
    """
    if wanted == 0:
        yield Taken(())
        return
    host = live_host(variables, dev)
    taken = take_free_dies(host, min(wanted, len(dies_seen(host, variables))), variables, locks)
    try:
        yield taken
    finally:
        taken.release()


def require_cann(environment: Environment) -> None:
    """Nothing is installed for an NPU whose CANN can't be used, and nothing is emulated instead of it.

    Raises UnusableError that says both ways out.
    """
    try:
        faults = environment.cann.faults
    except UnusableError as error:
        faults = (str(error),)
    if faults:
        raise UnusableError("\n".join((*faults, "mend that, or run without the NPU: --device emulated")))


def device_record(kind: Kind, taken: Taken) -> DeviceRecord:
    """What the manifest says of them."""
    return DeviceRecord(
        kind=kind,
        dies=tuple(map(_die_record, taken.dies)),
        visible_devices=taken.visible_devices if taken.dies else None,
    )


def dies_line(taken: Taken) -> str:
    """Which dies, for whoever watches."""
    dies = ", ".join(f"{die.place} (logical id {die.visible_id})" for die in taken.dies)
    return f"dies: {dies or 'none, as no stage needs one'}"


def _die_record(die: Die) -> DieRecord:
    return DieRecord(
        npu_id=die.npu_id,
        chip_id=die.chip_id,
        logical_id=die.visible_id,
        physical_id=die.physical_id,
        bus_id=die.bus_id,
        name=die.name,
    )
