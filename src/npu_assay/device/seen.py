"""What each of npu-smi's outputs says of the dies that it is about: dies with most fields unknown."""

from collections.abc import Callable, Iterator

from npu_assay.device.answers import Answer
from npu_assay.device.die import Die, Memory, Process
from npu_assay.device.npu_smi.board import Boards
from npu_assay.device.npu_smi.die_table import InfoDie
from npu_assay.device.npu_smi.health import HealthReport
from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.listing import Listing
from npu_assay.device.npu_smi.phyid_remap import PhysicalIdRemap
from npu_assay.device.npu_smi.process_memory import ProcessMemory
from npu_assay.device.npu_smi.process_table import DeviceProcess
from npu_assay.device.npu_smi.recognise import Output
from npu_assay.device.npu_smi.usages import MemoryReport, Usages
from npu_assay.device.npu_smi.values import Usage


def seen_in(answer: Answer) -> Iterator[Die]:
    """What an answer says of each die that it is about; the ids that it lacks are those asked for."""
    read: Callable[[Answer], Iterator[Die]] | None = _READERS.get(type(answer.output))
    for die in read(answer) if read else ():
        yield die.model_copy(
            update={
                "npu_id": answer.npu_id if die.npu_id is None else die.npu_id,
                "chip_id": answer.chip_id if die.chip_id is None else die.chip_id,
            }
        )


def from_info(info: Info, die: InfoDie) -> Die:
    processes = info.processes_of(die)
    hbm, memory = _memory(die.hbm_mib), _memory(die.memory_mib)
    if hbm is None and memory is None and (nothing := die.hbm_mib or die.memory_mib) is not None:
        hbm = Memory(used_mib=nothing.used, total_mib=nothing.total)
    return Die(
        npu_id=die.npu_id,
        chip_id=die.chip_id,
        physical_id=die.physical_id,
        name=die.name,
        health=die.health,
        hbm=hbm,
        memory=memory,
        temperature=die.temperature_c,
        power_w=die.power_w,
        bus_id=die.bus_id,
        processes=None if processes is None else tuple(map(_process, processes)),
    )


def _memory(usage: Usage | None) -> Memory | None:
    """None also for 0 / 0: the column is there, the memory is not."""
    return None if usage is None or usage.total == 0 else Memory(used_mib=usage.used, total_mib=usage.total)


def _process(process: DeviceProcess) -> Process:
    return Process(
        pid=process.pid,
        name=process.name,
        memory_mib=process.memory_mib,
        container_pid=process.container_pid,
    )


def _health(answer: Answer) -> Iterator[Die]:
    assert isinstance(answer.output, HealthReport)
    for chip in answer.output.chips:
        yield Die(
            npu_id=chip.npu_id,
            chip_id=chip.chip_id,
            health=chip.status,
            error_code=chip.error_code,
            error_information=chip.error_information,
        )


def _figures(answer: Answer) -> Iterator[Die]:
    assert isinstance(answer.output, Usages | MemoryReport)
    for chip in answer.output.chips:
        yield Die(
            npu_id=chip.npu_id,
            chip_id=chip.chip_id,
            hbm=_capacity(chip.hbm_capacity_mib),
            memory=_capacity(chip.memory_capacity_mib),
            figures=dict(chip.figures),
        )


def _capacity(mib: int | None) -> Memory | None:
    return None if mib is None else Memory(used_mib=None, total_mib=mib)


def _boards(answer: Answer) -> Iterator[Die]:
    assert isinstance(answer.output, Boards)
    for board in answer.output.boards:
        if not board.is_controller:
            yield Die(
                npu_id=board.npu_id,
                chip_id=board.chip_id,
                name=board.chip_name,
                bus_id=board.bus_id,
                product_name=board.product_name,
                serial_number=board.serial_number,
                driver_version=board.driver_version,
                firmware_version=board.firmware_version,
            )


def _remapped(answer: Answer) -> Iterator[Die]:
    assert isinstance(answer.output, PhysicalIdRemap)
    for chip in answer.output.chips:
        yield Die(
            npu_id=chip.npu_id,
            chip_id=chip.chip_id,
            logical_id=chip.logical_id,
            physical_id=chip.physical_id,
        )


def _processes(answer: Answer) -> Iterator[Die]:
    assert isinstance(answer.output, ProcessMemory)
    for chip in answer.output.chips:
        yield Die(
            npu_id=chip.npu_id,
            chip_id=chip.chip_id,
            processes=tuple(
                Process(pid=one.pid, name=one.name, memory_mib=one.memory_mib) for one in chip.processes
            ),
        )


def _listed(answer: Answer) -> Iterator[Die]:
    """Cards only: which chips they have is not said."""
    assert isinstance(answer.output, Listing)
    for npu in answer.output.npus:
        yield Die(npu_id=npu.npu_id, product_name=npu.product_name, serial_number=npu.serial_number)


_READERS: dict[type[Output], Callable[[Answer], Iterator[Die]]] = {
    HealthReport: _health,
    Usages: _figures,
    MemoryReport: _figures,
    Boards: _boards,
    PhysicalIdRemap: _remapped,
    ProcessMemory: _processes,
    Listing: _listed,
}
