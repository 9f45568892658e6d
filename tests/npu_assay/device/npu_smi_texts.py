"""npu-smi's output in the shapes that drivers print, with values of our own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

RULE = "+---------------------------+---------------+----------------------------------------------------+\n"
HEAVY_RULE = RULE.replace("-", "=")
TITLE = "| npu-smi 25.3.9                   Version: 25.3.9                                               |\n"
PROCESS_HEADER = (
    "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n"
)


@dataclass(frozen=True)
class Layout:
    """The two header lines of a table, and what its rows are made from."""

    card: str
    chip: str


A2 = Layout(
    "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n",
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n",
)
A3 = Layout(
    A2.card,
    "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n",
)
P310 = Layout(
    "| NPU     Name              | Health        | Power(W)    Temp(C)          Hugepages-Usage(page) |\n",
    "| Chip    Device            | Bus-Id        | AICore(%)   Memory-Usage(MB)                       |\n",
)
C950 = Layout(
    "| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n",
    "|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)        |\n",
)
HEADER = A2.card + A2.chip


def row(*cells: str) -> str:
    return "| " + " | ".join(f"{cell:<14}" for cell in cells) + " |\n"


def card(
    npu: int, *, name: str = "910B3", health: str = "OK", power: str = "91.5", hbm: str = "3060 / 65536"
) -> str:
    """A die of an A2."""
    return (
        f"| {npu:<6}{name:<20}| {health:<14}| {power:<12}41                0    / 0             |\n"
        f"| 0                         | 0000:{npu:02X}:00.0  | 0           0    / 0          {hbm:<21}|\n"
        + HEAVY_RULE
    )


def info(*cards: str, processes: str = "", layout: Layout = A2, title: str = TITLE) -> str:
    table = RULE + title + RULE + layout.card + layout.chip + HEAVY_RULE + "".join(cards)
    return table + RULE + PROCESS_HEADER + HEAVY_RULE + processes + HEAVY_RULE if processes else table


def process(npu: int, pid: int, name: str = "VLLMEngineCore", memory: int = 55123, chip: int = 0) -> str:
    return row(f"{npu}       {chip}", str(pid), name, str(memory))


def idle(npu: int) -> str:
    return f"| {f'No running processes found in NPU {npu}':<95}|\n"


def info_of(dies: Iterable[tuple[int, str]], *, processes: str = "") -> str:
    """A table of A2 dies, each with its cells as `card` has them: (npu, health)."""
    return info(*(card(npu, health=health) for npu, health in dies), processes=processes)


def dual_die(npu: int, physical: Sequence[int], *, health: str = "OK") -> str:
    """Both dies of an A3 card; the second measures no power."""
    return (
        row(f"{npu}     Ascend910", health, "171.2       35                0    / 0")
        + row(
            f"0     {physical[0]}",
            f"0000:{0x90 + npu:02X}:00.0",
            "0           0    / 0          3344 / 65536",
        )
        + RULE
        + row(f"{npu}     Ascend910", health, "-           34                0    / 0")
        + row(
            f"1     {physical[1]}",
            f"0000:{0xA0 + npu:02X}:00.0",
            "0           0    / 0          3120 / 65536",
        )
        + HEAVY_RULE
    )


def one_row_for_two(npu: int, *, power: str = "205.5", chips: str = "") -> str:
    """A card of two dies under one row of its own; `chips` in place of theirs."""
    return (
        row(f"{npu}     910C", "OK", f"{power}       51                0    / 0")
        + (
            chips
            or row("0", f"0000:{npu:02X}:00.0", "30          0    / 0          1111 / 65536")
            + row("1", f"0000:{npu:02X}:00.1", "70          0    / 0          2222 / 65536")
        )
        + HEAVY_RULE
    )


def headless(*cards: str, title: str = "") -> str:
    """An excerpt of a table without its header lines."""
    return (RULE + title if title else "") + HEAVY_RULE + "".join(cards)


def die_310p(
    npu: int, chip: int, device: int, *, memory: str = "1533 / 44280", bus: str = "0000:02:00.0"
) -> str:
    return (
        row(f"{npu}       310P3", "OK", "NA          47                0     / 0")
        + row(f"{chip}       {device}", bus, f"0           {memory}")
        + HEAVY_RULE
    )


def die_950(npu: int, *, hbm: str = "6222  / 131072") -> str:
    return (
        row(str(npu), "Ascend950PR", "OK", "188.0       45                0     / 0")
        + row("", "", f"0000:{npu:02X}:00.0", f"0           0    / 0          {hbm}")
        + HEAVY_RULE
    )


def columns(*values: object) -> str:
    return "\t" + "".join(f"{value:<31}" for value in values).rstrip() + "\n"


MAPPING = (
    columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    + columns(0, 0, 0, "Ascend 910B3")
    + columns(0, 1, "-", "Mcu")
    + columns(3, 0, 1, "Ascend 910B3")
    + columns(3, 1, "-", "Mcu")
)
MAPPING_950 = "NPU ID Slot ID Chip ID Chip Phy-ID Chip Name\n4 21 0 4 Ascend950PR\n6 23 0 6 Ascend950PR\n"
MAPPING_A3 = (
    columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name")
    + columns(2, 0, 0, 4, "Ascend910")
    + columns(2, 1, 1, 5, "Ascend910")
    + columns(2, 2, "-", "-", "Mcu")
)


def fields(*pairs: tuple[str, object], indent: int = 8) -> str:
    return "".join(f"{'':<{indent}}{key:<30} : {value}\n" for key, value in pairs)


LISTING = (
    fields(("Total Count", 2))
    + "\n"
    + fields(("NPU ID", 0), ("Product Name", "IT21XXXX01"), ("Serial Number", "S0001"), ("Chip Count", 1))
    + "\n"
    + fields(("NPU ID", 3), ("Chip Count", 1))
)
HEALTH = fields(("Health Status", "OK"), ("Error Code", "NA"), ("Error Information", "NA"))
SICK = fields(
    ("Health Status", "Alarm"), ("Error Code", "80E18005"), ("Error Information", "sensor type=Temperature")
)
HEALTH_OF_NPU = (
    fields(("NPU ID", 2))
    + fields(("Health", "OK"), ("Error Code", "NA"), ("Error Information", "NA"), ("Chip ID", 0))
    + "\n"
    + fields(("Health", "Warning"), ("Error Code", "8C1F8608"), ("Error Information", "link"), ("Chip ID", 1))
    + "\n"
    + fields(("Health", "OK"), ("Error Code", "NA"), ("Error Information", "NA"), ("Chip ID", 2))
)
BOARD = fields(
    ("NPU ID", 3),
    ("Product Name", "IT22XXXX02"),
    ("Model", "NA"),
    ("Manufacturer", "Huawei"),
    ("Serial Number", "S0003"),
    ("Software Version", "25.3.9"),
    ("Firmware Version", "7.1.0.4.999"),
    ("Board ID", "0x45"),
    ("PCB ID", "B"),
    ("Chip Count", 1),
    ("Faulty Chip Count", 0),
)
BOARD_CONTROLLER = fields(
    ("NPU ID", 3), ("Chip ID", 1), ("Chip Type", "mcu"), ("Chip Name", "MCU"), ("Board ID", "0x46")
)
USAGES_LAST = (
    fields(("NPU ID", 2), ("Chip Count", 2), indent=4)
    + "\n"
    + fields(("HBM Capacity(MB)", 65536), ("HBM Usage Rate(%)", 3), ("Chip ID", 0), indent=4)
    + "\n"
    + fields(("HBM Capacity(MB)", 65536), ("HBM Usage Rate(%)", 86), ("Chip ID", 1), indent=4)
)
USAGES_FIRST = (
    fields(("NPU ID", 0), ("Chip Count", 1))
    + "\n"
    + fields(("Chip ID", 0), ("Memory Capacity(MB)", 10777), ("Memory Usage Rate(%)", 34))
)
USAGES_BARE = fields(
    ("HBM Capacity(MB)", 65536), ("NPU Utilization(%)", 54), ("NPU Real-time Power(W)", 161.5)
)
USAGES_950 = fields(("NPU ID", 4), ("Aicore Usage Rate(%)", 0), ("NPU Utilization(%)", "NA"))
MEMORY = fields(
    ("DDR Capacity(MB)", 0),
    ("HBM Capacity(MB)", 65536),
    ("HBM Clock Speed(MHz)", 1600),
    ("HBM Temperature(C)", 44),
    ("HBM Manufacturer ID", "0x57"),
)
PROCESSES = """\
    No process in device.
    Chip ID                        : 0

    Process id:3111222 Process name:                  Process memory(MB):47111
    Process id:3111333 Process name:python3           Process memory(MB):300
    Chip ID                        : 1
"""
REMAP = (
    " Chip Physical ID            :4\n Chip Logic ID               :0\n NPU ID                      :2\n"
    + (" Chip ID                     :0\n")
)
UNSUPPORTED = "This device does not support querying spod-info.\n"
FAILURE_8005 = (
    "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\ndcmi module initialize failed. ret is -8005\n"
)
FAILURE_8020 = (
    "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n"
    "dcmi model initialized failed, because the device is used. ret is -8020\n"
)

#: One of each kind; what fuzzing starts from.
SAMPLES = {
    "info A2": info(card(0), card(3), processes=idle(0) + process(3, 2290111)),
    "info A3": info(dual_die(2, (4, 5)), layout=A3),
    "info 310P": info(die_310p(32768, 0, 0), die_310p(32768, 1, 1), layout=P310),
    "info 950": info(die_950(4), die_950(6), layout=C950),
    "info A2 without header": headless(card(0), card(3)),
    "info A3 without header": headless(dual_die(2, (4, 5)), title=TITLE),
    "info 310P without header": headless(die_310p(32768, 0, 3), die_310p(32800, 0, 4)),
    "info 950 without header": headless(die_950(4), die_950(6)),
    "info of a card with one row": headless(one_row_for_two(0), one_row_for_two(1), title=TITLE),
    "info cut short": info(dual_die(2, (4, 5)), layout=A3)[:-230],
    "-m A2": MAPPING,
    "-m A3": MAPPING_A3,
    "-m 950": MAPPING_950,
    "-l": LISTING,
    "-l cut short": LISTING.replace(": 2\n", ": 8\n"),
    "health": HEALTH,
    "health of an NPU": HEALTH_OF_NPU,
    "board": BOARD,
    "board of a controller": BOARD_CONTROLLER,
    "usages, id last": USAGES_LAST,
    "usages, id first": USAGES_FIRST,
    "usages without ids": USAGES_BARE,
    "usages 950": USAGES_950,
    "memory": MEMORY,
    "proc-mem": PROCESSES,
    "phyid-remap": REMAP,
    "unsupported": UNSUPPORTED,
    "failure": FAILURE_8005,
}
