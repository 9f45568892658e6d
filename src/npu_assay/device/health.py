"""Are the devices fit for a run? Judged from npu-smi's output alone, live or stored."""

from dataclasses import dataclass

from npu_assay.device.stored import Outputs

_HEALTHY = "OK"


@dataclass(frozen=True)
class Device:
    """One die, as far as npu-smi describes it."""

    npu_id: int
    chip_id: int
    logic_id: int | None
    """None without `npu-smi info -m`."""
    name: str
    bus_id: str
    health: str
    hbm_total_mib: int


@dataclass(frozen=True)
class Assessment:
    """The devices and everything that is wrong with them."""

    npu_smi_version: str
    devices: tuple[Device, ...]
    problems: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems


def assess(outputs: Outputs) -> Assessment:
    """Judge every device: healthy, with its HBM; and all of npu-smi's outputs speak of the same chips."""
    logic_ids = {}
    if outputs.mapping is not None:
        logic_ids = {(chip.npu_id, chip.chip_id): chip.logic_id for chip in outputs.mapping.chips}
    devices = tuple(
        Device(
            npu_id=card.npu_id,
            chip_id=card.chip_id,
            logic_id=logic_ids.get((card.npu_id, card.chip_id)),
            name=card.name,
            bus_id=card.bus_id,
            health=card.health,
            hbm_total_mib=card.hbm_mib.total,
        )
        for card in outputs.info.cards
    )
    return Assessment(outputs.info.version, devices, tuple(_problems(outputs, devices)))


def _problems(outputs: Outputs, devices: tuple[Device, ...]) -> list[str]:
    problems = []
    for device in devices:
        who = f"NPU {device.npu_id} chip {device.chip_id}"
        if device.health != _HEALTHY:
            problems.append(f"{who}: health is {device.health}, expected {_HEALTHY}")
        if device.hbm_total_mib <= 0:
            problems.append(f"{who}: HBM of {device.hbm_total_mib} MiB, expected more than 0")
    for source, report in outputs.health.items():
        if report.status != _HEALTHY:
            problems.append(
                f"{source}: health is {report.status}, expected {_HEALTHY} "
                f"(error code {report.error_code}, {report.error_information})"
            )
    shown = {(device.npu_id, device.chip_id) for device in devices}
    if outputs.mapping is not None:
        unusable = [chip for chip in outputs.mapping.chips if not chip.usable]
        problems += [
            f"chip {chip.chip_id} ({chip.name}): NPU ID {chip.npu_id}, unusable" for chip in unusable
        ]
        mapped = {(chip.npu_id, chip.chip_id) for chip in outputs.mapping.chips if chip.usable}
        problems += [
            f"NPU {npu} chip {chip}: in only one of npu-smi info and info -m"
            for npu, chip in sorted(shown ^ mapped)
        ]
    if outputs.listing is not None:
        listed = {npu.npu_id for npu in outputs.listing.npus}
        for npu in sorted(listed ^ {npu for npu, _ in shown}):
            problems.append(f"NPU {npu}: in only one of npu-smi info and info -l")
    return problems
