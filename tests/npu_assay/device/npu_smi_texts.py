"""npu-smi's output in the shapes of the 910B, with values of our own."""

RULE = "+---------------------------+---------------+----------------------------------------------------+\n"
HEAVY_RULE = RULE.replace("-", "=")
TITLE = "| npu-smi 25.3.9                   Version: 25.3.9                                               |\n"
HEADER = (
    "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n"
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n"
)
PROCESS_HEADER = (
    "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n"
)


def card(
    npu: int, *, name: str = "910B3", health: str = "OK", power: str = "91.5", hbm: str = "3060 / 65536"
) -> str:
    return (
        f"| {npu:<6}{name:<20}| {health:<14}| {power:<12}41                0    / 0             |\n"
        f"| 0                         | 0000:{npu:02X}:00.0  | 0           0    / 0          {hbm:<21}|\n"
        + HEAVY_RULE
    )


def info(*cards: str, processes: str = "") -> str:
    table = RULE + TITLE + RULE + HEADER + HEAVY_RULE + "".join(cards)
    return table + RULE + PROCESS_HEADER + HEAVY_RULE + processes + HEAVY_RULE if processes else table


def _columns(*values: object) -> str:
    return "\t" + "".join(f"{value:<31}" for value in values).rstrip() + "\n"


MAPPING = (
    _columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    + _columns(0, 0, 0, "Ascend 910B3")
    + _columns(0, 1, "-", "Mcu")
    + _columns(3, 0, 1, "Ascend 910B3")
    + _columns(3, 1, "-", "Mcu")
)
LISTING = """\
        Total Count                    : 2

        NPU ID                         : 0
        Product Name                   : IT21XXXX01
        Chip Count                     : 1

        NPU ID                         : 3
        Chip Count                     : 1
"""
HEALTH = """\
        Health Status                  : OK
        Error Code                     : NA
        Error Information              : NA
"""
