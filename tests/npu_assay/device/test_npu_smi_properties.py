"""Whatever a table holds is read back exactly, or refused; no text makes a parser raise something else."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from npu_smi_texts import (
    A3,
    HEAVY_RULE,
    RULE,
    SAMPLES,
    card,
    dual_die,
    fields,
    idle,
    info,
    process,
)

from npu_assay.device.npu_smi.board import parse_boards
from npu_assay.device.npu_smi.die_table import InfoDie
from npu_assay.device.npu_smi.errors import NpuSmiError, UnknownLayoutError
from npu_assay.device.npu_smi.health import ChipHealth, HealthReport, parse_health
from npu_assay.device.npu_smi.info import Info, parse_info
from npu_assay.device.npu_smi.listing import ListedNpu, Listing, parse_listing
from npu_assay.device.npu_smi.mapping import ChipMapping, Controller, MappedChip, parse_mapping
from npu_assay.device.npu_smi.phyid_remap import PhysicalIdRemap, RemappedChip, parse_phyid_remap
from npu_assay.device.npu_smi.process_memory import (
    ChipProcess,
    ChipProcesses,
    ProcessMemory,
    parse_process_memory,
)
from npu_assay.device.npu_smi.process_table import DeviceProcess
from npu_assay.device.npu_smi.recognise import parse_npu_smi
from npu_assay.device.npu_smi.usages import parse_memory, parse_usages
from npu_assay.device.npu_smi.values import Usage

PARSERS = (
    parse_info,
    parse_mapping,
    parse_listing,
    parse_health,
    parse_boards,
    parse_usages,
    parse_memory,
    parse_process_memory,
    parse_phyid_remap,
)

ids = st.integers(0, 10**6)
word = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_.-", min_size=1, max_size=12).filter(
    lambda text: text.strip("-") and text not in ("NA", "N/A")
)
words = st.lists(word, min_size=1, max_size=3).map(" ".join)
usage = st.none() | st.builds(Usage, ids, ids)
watts = st.none() | st.integers(0, 99999).map(lambda tenths: tenths / 10)
lines_of_pieces = st.lists(
    st.lists(
        st.sampled_from(sorted({piece for text in SAMPLES.values() for piece in text.split(" ")}))
        | st.text(max_size=5),
        max_size=12,
    ).map(" ".join),
    max_size=12,
).map("\n".join)


def shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case Usage(used, total):
            return f"{used} / {total}"
        case _:
            return str(value)


@given(lines_of_pieces | st.text())
@settings(max_examples=400)
def test_a_parser_raises_nothing_but_what_it_documents(text):
    for parse in PARSERS:
        with suppress(UnknownLayoutError):
            parse(text, "x")
    with suppress(UnknownLayoutError, NpuSmiError):
        parse_npu_smi(text.encode("utf-8", "replace"), "x")


@given(st.binary(max_size=200))
def test_bytes_that_are_no_text_are_refused(data):
    with pytest.raises((UnknownLayoutError, NpuSmiError)):
        parse_npu_smi(b"\xff" + data, "x")


dies = st.builds(
    InfoDie,
    npu_id=ids,
    chip_id=ids,
    physical_id=st.none() | ids,
    device=st.none() | ids,
    name=words,
    health=word,
    bus_id=st.none() | word,
    power_w=watts,
    temperature_c=st.none() | ids,
    utilisation_percent=watts,
    memory_mib=usage,
    hbm_mib=usage,
    hugepages=usage,
)
processes = st.builds(
    DeviceProcess,
    npu_id=ids,
    chip_id=ids,
    pid=ids,
    name=words | st.just(""),
    memory_mib=ids,
    container_pid=st.none() | ids,
)
CARD = {
    "NPU": "npu_id",
    "Health": "health",
    "Power(W)": "power_w",
    "Temp(C)": "temperature_c",
    "Hugepages-Usage(page)": "hugepages",
}
CHIP = {
    "Chip": "chip_id",
    "Bus-Id": "bus_id",
    "Phy-ID": "physical_id",
    "Device": "device",
    "AICore(%)": "utilisation_percent",
    "Memory-Usage(MB)": "memory_mib",
    "HBM-Usage(MB)": "hbm_mib",
}


@st.composite
def cells(draw, columns: list[str], count: int) -> list[list[str]]:
    """The columns in any order, spread over so many cells; Name, which may hold spaces, ends its cell."""
    order = draw(st.permutations(columns))
    spread: list[list[str]] = [[] for _ in range(count)]
    for column in order:
        spread[draw(st.integers(0, count - 1))].append(column)
    for cell in spread:
        if "Name" in cell:
            cell.append(cell.pop(cell.index("Name")))
    return spread


def line(row: list[list[str]]) -> str:
    return "| " + " | ".join("   ".join(cell) for cell in row) + " |\n"


@given(
    st.data(), st.lists(dies, min_size=1, max_size=4, unique_by=lambda die: (die.npu_id, die.chip_id)), words
)
@settings(max_examples=150)
def test_a_table_of_dies_is_read_back_whatever_the_order_of_its_columns(data, expected, version):
    version = version.split()[0]
    optional = data.draw(st.sets(st.sampled_from(["Phy-ID", "Device", "HBM-Usage(MB)", "Memory-Usage(MB)"])))
    chip_columns = [name for name in CHIP if name in {"Chip", "Bus-Id", "AICore(%)"} | optional]
    count = data.draw(st.integers(1, 4))
    card, chip = data.draw(cells(["Name", *CARD], count)), data.draw(cells(chip_columns, count))
    text = (
        RULE + f"| npu-smi {version}   Version: {version}   |\n" + RULE + line(card) + line(chip) + HEAVY_RULE
    )
    for die in expected:
        for row, fields_of in ((card, CARD | {"Name": "name"}), (chip, CHIP)):
            text += line([[shown(getattr(die, fields_of[name])) for name in cell] for cell in row])
        text += HEAVY_RULE
    left_out = {CHIP[name]: None for name in CHIP if name not in chip_columns}
    wanted = tuple(InfoDie(**{**vars(die), **left_out}) for die in expected)
    assert parse_info(text, "x") == Info(version, wanted, None)
    for end in range(data.draw(st.integers(0, 22)), len(text.rstrip()), 23):
        check_cut(text, end, parse_info(text, "x"))


def check_cut(text: str, end: int, whole: Info) -> None:
    """Refused; or the first dies, of the last perhaps less than the whole text says, and it is said."""
    try:
        read = parse_info(text[:end], "x")
    except UnknownLayoutError:
        return
    assert read.cut is not None or [note for note in read.notes if "process" in note]
    assert read.version == whole.version
    assert len(read.dies) <= len(whole.dies)
    assert read.dies[:-1] == whole.dies[: len(read.dies) - 1]
    last, expected = read.dies[-1], whole.dies[len(read.dies) - 1]
    for name, value in vars(last).items():
        assert value is None or value == getattr(expected, name), name
    assert (read.processes or ()) == (whole.processes or ())[: len(read.processes or ())]
    assert set(read.idle_npus) <= set(whole.idle_npus)
    for die, same in zip(read.dies[:-1], whole.dies, strict=False):
        running = read.processes_of(die)
        assert running is None or set(running) <= set(whole.processes_of(same) or ())
        assert running != () or whole.processes_of(same) == ()


@pytest.mark.parametrize(
    "text",
    [
        *(text for name, text in SAMPLES.items() if name.startswith("info") and "cut" not in name),
        info(dual_die(2, (4, 5)), layout=A3, processes=process(2, 7, chip=1)),
        info(
            *(card(npu) for npu in (0, 1, 12)),
            processes=HEAVY_RULE.join((idle(0), process(1, 7) + process(1, 70), idle(12))),
        ),
    ],
)
def test_wherever_a_table_is_cut_it_is_refused_or_says_so_and_never_says_more(text):
    whole = parse_info(text, "x")
    assert whole.cut is None
    for end in range(len(text.rstrip())):
        check_cut(text, end, whole)


@given(
    st.lists(
        st.builds(
            dict,
            npu=ids,
            chip=ids,
            second=ids,
            name=st.sampled_from(["910B3", "Ascend910", "310P3", "Ascend 910B3"]),
            health=st.sampled_from(["OK", "Warning", "Alarm", "Critical", "UNKNOWN"]),
            power=watts,
            degrees=st.none() | st.integers(-9, 99),
            bus=st.sampled_from(["NA", "0000:C1:00.0", "0001:81:00.0"]),
            memory=usage,
            hbm=usage,
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda die: (die["npu"], die["chip"]),
    ),
    st.booleans(),
    st.booleans(),
    st.integers(0, 22),
)
@settings(max_examples=60)
def test_a_table_without_header_has_the_values_that_a_header_gives_it(dies, has_second, has_hbm, first):
    second = ("Phy-ID" if has_hbm else "Device") if has_second else ""
    header = line([["NPU", "Name"], ["Health"], ["Power(W)", "Temp(C)", "Hugepages-Usage(page)"]]) + line(
        [["Chip", second], ["Bus-Id"], ["AICore(%)", "Memory-Usage(MB)", *["HBM-Usage(MB)"] * has_hbm]]
    )
    rows = HEAVY_RULE
    for die in dies:
        rows += line(
            [
                [str(die["npu"]), die["name"]],
                [die["health"]],
                [shown(die["power"]), shown(die["degrees"]), "0    / 0"],
            ]
        )
        measures = ["0", shown(die["memory"]), *[shown(die["hbm"])] * has_hbm]
        rows += line([[str(die["chip"]), *[str(die["second"])] * has_second], [die["bus"]], measures])
        rows += HEAVY_RULE
    by_shape, by_header = parse_info(rows, "x"), parse_info(RULE + header + rows, "x")
    assert by_shape.dies == by_header.dies
    assert (by_shape.has_header, by_header.has_header) == (False, True)
    for end in range(first, len(rows.rstrip()), 23):
        check_cut(rows, end, by_shape)


@given(st.lists(processes, min_size=1, max_size=4), st.sets(ids, max_size=3))
def test_a_table_of_processes_is_read_back(expected, idle):
    idle = sorted(idle - {process.npu_id for process in expected})
    text = SAMPLES["info A2"].partition(RULE + "| NPU     Chip ")[0] + RULE
    text += (
        "| NPU  Chip | Process id | Process name | Process memory(MB) | Process id in container |\n"
        + HEAVY_RULE
    )
    for one in expected:
        container = shown(one.container_pid)
        text += line(
            [
                [str(one.npu_id), str(one.chip_id)],
                [str(one.pid)],
                [one.name],
                [str(one.memory_mib)],
                [container],
            ]
        )
    text += "".join(f"| No running processes found in NPU {npu} |\n" for npu in idle) + HEAVY_RULE
    read = parse_info(text, "x")
    assert (read.processes, read.idle_npus) == (tuple(expected), tuple(idle))


@given(st.data(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([" ", "\t", "      "]))
def test_a_mapping_is_read_back(data, has_slot, has_logical, has_physical, gap):
    count = data.draw(st.integers(1, 5))

    def unique():
        return data.draw(st.lists(ids, min_size=count, max_size=count, unique=True))

    npus, logical, physical = unique(), unique(), unique()
    chips = tuple(
        MappedChip(
            npu_id=npus[at],
            chip_id=data.draw(ids),
            logical_id=logical[at] if has_logical else None,
            physical_id=physical[at] if has_physical else None,
            slot_id=data.draw(ids) if has_slot else None,
            name=data.draw(words.filter(lambda name: name.lower() != "mcu")),
        )
        for at in range(count)
    )
    columns = [
        "NPU ID",
        *["Slot ID"] * has_slot,
        "Chip ID",
        *["Chip Logic ID"] * has_logical,
        *["Chip Phy-ID"] * has_physical,
    ]
    text = gap + gap.join([*columns, "Chip Name"]) + "\n"
    for chip in chips:
        values = [chip.npu_id, chip.slot_id, chip.chip_id, chip.logical_id, chip.physical_id]
        text += gap + gap.join([*(str(value) for value in values if value is not None), chip.name]) + "\n"
    controllers = ["10000001", *["-"] * has_slot, "1", *["-"] * has_logical, *["-"] * has_physical, "Mcu"]
    text += gap.join(controllers) + "\n"
    assert parse_mapping(text, "x") == ChipMapping(chips, (Controller(10000001, 1),))


@given(
    st.lists(
        st.builds(ListedNpu, ids, st.none() | ids, st.none() | words, st.none() | word),
        min_size=1,
        max_size=4,
        unique_by=lambda npu: npu.npu_id,
    )
)
def test_a_list_is_read_back(npus):
    text = fields(("Total Count", len(npus)))
    for npu in npus:
        keys = {
            "NPU ID": npu.npu_id,
            "Product Name": npu.product_name,
            "Serial Number": npu.serial_number,
            "Chip Count": npu.chip_count,
        }
        text += "\n" + fields(*((key, value) for key, value in keys.items() if value is not None))
    assert parse_listing(text, "x") == Listing(tuple(npus))


chip_ids = st.lists(ids, min_size=1, max_size=3, unique=True)


@given(chip_ids, ids, st.data(), st.sampled_from(["before", "after"]))
def test_health_is_read_back_wherever_the_chips_ids_stand(chips, npu, data, where):
    expected = tuple(
        ChipHealth(npu, chip, data.draw(word), data.draw(st.none() | word), data.draw(st.none() | words))
        for chip in chips
    )
    text = fields(("NPU ID", npu), ("Chip Count", len(chips)))
    for one in expected:
        lines = [
            ("Health", one.status),
            ("Error Code", one.error_code or "NA"),
            ("Error Information", one.error_information or "NA"),
        ]
        mark = [("Chip ID", one.chip_id)]
        text += "\n" + fields(*(mark + lines if where == "before" else lines + mark))
    assert parse_health(text, "x") == HealthReport(expected)


@given(chip_ids, st.data(), st.sampled_from(["before", "after"]))
def test_figures_are_read_back_wherever_the_chips_ids_stand(chips, data, where):
    names = st.lists(word, min_size=1, max_size=4, unique=True)
    figures = st.none() | st.integers(-999, 10**9).map(lambda thousandths: thousandths / 1000)
    expected = {chip: {f"{name} Rate(%)": data.draw(figures) for name in data.draw(names)} for chip in chips}
    text = fields(("NPU ID", 3))
    for chip, values in expected.items():
        lines = [(name, "NA" if value is None else value) for name, value in values.items()]
        text += "\n" + fields(
            *([("Chip ID", chip), *lines] if where == "before" else [*lines, ("Chip ID", chip)])
        )
    for parse in (parse_usages, parse_memory):
        assert {chip.chip_id: dict(chip.figures) for chip in parse(text, "x").chips} == expected


@given(chip_ids, st.data())
def test_processes_of_chips_are_read_back(chips, data):
    some = st.lists(st.builds(ChipProcess, ids, word | st.just(""), ids), max_size=3).map(tuple)
    expected = tuple(ChipProcesses(None, chip, data.draw(some)) for chip in chips)
    text = ""
    for chip in expected:
        for one in chip.processes:
            text += (
                f"    Process id:{one.pid} Process name:{one.name:<18}Process memory(MB):{one.memory_mib}\n"
            )
        text += "" if chip.processes else "    No process in device.\n"
        text += fields(("Chip ID", chip.chip_id)) + "\n"
    assert parse_process_memory(text, "x") == ProcessMemory(expected)


@given(st.lists(st.builds(RemappedChip, ids, ids, ids, ids), min_size=1, max_size=3))
def test_a_remap_is_read_back(chips):
    text = "".join(
        f" Chip Physical ID :{one.physical_id}\n Chip Logic ID :{one.logical_id}\n"
        f" NPU ID :{one.npu_id}\n Chip ID :{one.chip_id}\n"
        for one in chips
    )
    assert parse_phyid_remap(text, "x") == PhysicalIdRemap(tuple(chips))
