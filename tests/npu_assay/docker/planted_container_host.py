"""A host as a container is made for: nodes, driver and tools below a folder, and a npu-smi of its kind."""

from collections.abc import Collection, Sequence
from pathlib import Path

from npu_smi_texts import A3, C950, P310, columns, die_310p, die_950, dual_die, idle, info
from planted_npu_smi import a2_answers

DRIVER = "usr/local/Ascend/driver"
MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")
#: What an A2, an A3 and a 310P have beside their nodes.
FILES = (
    f"{DRIVER}/lib64/driver/libascend_hal.so",
    f"{DRIVER}/version.info",
    "usr/local/dcmi/libdcmi.so",
    "usr/local/bin/npu-smi",
    "etc/ascend_install.info",
)


def a2(npus: Sequence[int] = (0, 3), **more: object) -> dict[str, str]:
    return a2_answers(npus, **more)


def a3(cards: Sequence[int] = (0, 1)) -> dict[str, str]:
    """Cards of two dies with physical ids in their order."""
    table = "".join(dual_die(card, (2 * card, 2 * card + 1)) for card in cards)
    mapping = columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name")
    for card in cards:
        for chip in (0, 1):
            mapping += columns(card, chip, 2 * card + chip, 2 * card + chip, "Ascend910")
    return {"info": info(table, processes="".join(map(idle, cards)), layout=A3), "info_-m": mapping}


def p310() -> dict[str, str]:
    """One card of two dies whose NPU ID is large."""
    table = die_310p(32768, 0, 0) + die_310p(32768, 1, 1, bus="0000:03:00.0")
    mapping = columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    mapping += columns(32768, 0, 0, "Ascend 310P3") + columns(32768, 1, 1, "Ascend 310P3")
    return {"info": info(table, processes=idle(32768), layout=P310), "info_-m": mapping}


def c950() -> dict[str, str]:
    mapping = "NPU ID Slot ID Chip ID Chip Phy-ID Chip Name\n4 21 0 4 Ascend950PR\n6 23 0 6 Ascend950PR\n"
    table = die_950(4) + die_950(6)
    return {"info": info(table, processes=idle(4) + idle(6), layout=C950), "info_-m": mapping}


def plant_host(
    root: Path,
    dies: Collection[int],
    *,
    managers: Collection[str] = MANAGERS,
    files: Collection[str] = FILES,
    without: Collection[str] = (),
    mode: int = 0o660,
) -> Path:
    """Make the root of a host with these nodes and files, but those that `without` names; returns it."""
    nodes = [f"dev/{name}" for name in (*(f"davinci{number}" for number in dies), *managers)]
    (root / "dev").mkdir(parents=True, exist_ok=True)
    for name in (*nodes, *files):
        if name not in without:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
            (root / name).chmod(mode)
    info_file = root / "etc/ascend_install.info"
    if info_file.exists():
        info_file.write_text("Driver_Install_Path_Param=/usr/local/Ascend\nDriver_Install_Status=complete\n")
    return root


def plant_answers(folder: Path, answers: dict[str, str]) -> Path:
    """Stored npu-smi output for `--from`; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in answers.items():
        chip = name.removeprefix("info_-t_").replace("_-i_", "-").replace("_-c_", "-")
        (folder / f"npu-smi-{chip}.txt").write_text(text)
    return folder
