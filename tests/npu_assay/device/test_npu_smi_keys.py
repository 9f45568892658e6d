"""The outputs made of `key : value` lines, and `info -m`."""

import pytest
from npu_smi_texts import (
    BOARD,
    BOARD_CONTROLLER,
    FAILURE_8005,
    FAILURE_8020,
    HEALTH,
    HEALTH_OF_NPU,
    LISTING,
    MAPPING,
    MAPPING_950,
    MAPPING_A3,
    MEMORY,
    PROCESSES,
    REMAP,
    SAMPLES,
    UNSUPPORTED,
    USAGES_950,
    USAGES_BARE,
    USAGES_FIRST,
    USAGES_LAST,
    card,
    fields,
    idle,
    info,
)

from npu_assay.device.npu_smi.board import Boards
from npu_assay.device.npu_smi.errors import (
    DriverFailureError,
    EmptyOutputError,
    MissingLibraryError,
    MissingToolError,
    NoSuchDeviceError,
    NpuSmiError,
    UnknownLayoutError,
)
from npu_assay.device.npu_smi.health import ChipHealth, HealthReport
from npu_assay.device.npu_smi.listing import ListedNpu, Listing
from npu_assay.device.npu_smi.mapping import ChipMapping, Controller, MappedChip
from npu_assay.device.npu_smi.phyid_remap import PhysicalIdRemap, RemappedChip
from npu_assay.device.npu_smi.process_memory import ChipProcess, ChipProcesses, ProcessMemory
from npu_assay.device.npu_smi.recognise import Unsupported, parse_npu_smi
from npu_assay.device.npu_smi.usages import MemoryReport, Usages
from npu_assay.device.npu_smi.values import integer, natural, number, usage


def parse(text: str):
    return parse_npu_smi(text.encode(), "stored.txt")


def test_controllers_are_no_chips():
    assert parse(MAPPING) == ChipMapping(
        chips=(
            MappedChip(0, 0, 0, None, None, "Ascend 910B3"),
            MappedChip(3, 0, 1, None, None, "Ascend 910B3"),
        ),
        controllers=(Controller(0, 1), Controller(3, 1)),
    )


@pytest.mark.parametrize("text", [MAPPING, MAPPING_A3, MAPPING_950], ids=["A2", "A3", "950"])
def test_columns_may_be_apart_by_tabs_or_single_spaces(text):
    read = parse(text)
    single = "".join(" ".join(line.split()) + "\n" for line in text.splitlines())
    assert parse(single) == read
    assert parse("\n" + single.replace("\n", "\r\n")) == read


def test_ids_that_a_layout_lacks_are_none():
    assert parse(MAPPING_950).chips[0] == MappedChip(4, 0, None, 4, 21, "Ascend950PR")
    assert [(chip.logical_id, chip.physical_id) for chip in parse(MAPPING_A3).chips] == [(0, 4), (1, 5)]


def test_npu_minus_one_can_not_be_used():
    header = "NPU ID    Chip ID    Chip Logic ID    Chip Phy-ID    Chip Name\n"
    rows = "32800    0    0    8    Ascend 310P3\n" + "-1 0 2 7 Ascend 310P3\n-1 1 - - Mcu\n" * 2
    assert [(chip.npu_id, chip.usable) for chip in parse(header + rows).chips] == [
        (32800, True),
        (-1, False),
        (-1, False),
    ]


def test_a_list_may_lack_products_and_counts():
    assert parse(LISTING) == Listing((ListedNpu(0, 1, "IT21XXXX01", "S0001"), ListedNpu(3, 1, None, None)))
    bare = fields(("Total Count", 1)) + fields(("NPU ID", 8), ("Product Name", "A5 PCIe Card"))
    assert parse(bare) == Listing((ListedNpu(8, None, "A5 PCIe Card", None),))


def test_a_list_with_fewer_npus_than_it_announces_is_cut_short():
    assert parse(LISTING).cut is None
    fewer = parse(LISTING.replace(": 2\n", ": 8\n"))
    assert fewer.npus == parse(LISTING).npus
    assert str(fewer.cut) == "cut short after line 9: 'Chip Count : 1'"


@pytest.mark.parametrize(
    ("end", "npus", "is_cut"),
    [
        (": 3\n        Chip Count                     : 1", 2, False),  # a last line break may be left out
        (": 3\n        Chip Cou", 2, True),
        ("NPU ID                         : 3\n", 2, False),
        ("NPU ID                         : 3", 1, True),  # or 32768
        ("S0001\n", 1, True),
        ("S00", 1, True),
    ],
)
def test_a_value_that_may_be_cut_is_none(end, npus, is_cut):
    begin, found, _ = LISTING.partition(end)
    assert found
    read = parse(begin + found)
    assert (len(read.npus), read.cut is not None) == (npus, is_cut)
    whole = parse(LISTING).npus
    for npu, expected in zip(read.npus, whole, strict=False):
        for name in ("npu_id", "chip_count", "product_name", "serial_number"):
            assert getattr(npu, name) in (None, getattr(expected, name))


def test_health_of_a_chip_and_of_a_whole_npu():
    assert parse(HEALTH) == HealthReport((ChipHealth(None, None, "OK", None, None),))
    chips = parse(HEALTH_OF_NPU).chips
    assert [(one.npu_id, one.chip_id, one.status, one.error_code) for one in chips] == [
        (2, 0, "OK", None),
        (2, 1, "Warning", "8C1F8608"),
        (2, 2, "OK", None),
    ]


def test_boards():
    (board,) = parse(BOARD).boards
    assert (board.npu_id, board.chip_id, board.driver_version) == (3, None, "25.3.9")
    assert (board.firmware_version, board.chip_count, board.is_controller) == ("7.1.0.4.999", 1, False)
    (controller,) = parse(BOARD_CONTROLLER).boards
    assert (controller.chip_id, controller.is_controller) == (1, True)
    assert len(parse(BOARD + "\n" + BOARD.replace(": 3", ": 4")).boards) == 2
    assert isinstance(parse(BOARD), Boards)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (USAGES_LAST, [(2, 0, 65536, 3.0), (2, 1, 65536, 86.0)]),
        (USAGES_FIRST, [(0, 0, None, None)]),
        (USAGES_BARE, [(None, None, 65536, None)]),
        (USAGES_950, [(4, None, None, None)]),
    ],
    ids=["id last", "id first", "no ids", "950"],
)
def test_usages_belong_to_the_chip_whose_id_stands_before_or_after(text, expected):
    read = parse(text)
    assert isinstance(read, Usages)
    assert [
        (chip.npu_id, chip.chip_id, chip.hbm_capacity_mib, chip.figures.get("HBM Usage Rate(%)"))
        for chip in read.chips
    ] == expected


def test_a_figure_that_is_not_measured_is_none():
    assert parse(USAGES_950).chips[0].figures == {"Aicore Usage Rate(%)": 0.0, "NPU Utilization(%)": None}
    assert parse(USAGES_FIRST).chips[0].memory_capacity_mib == 10777


def test_memory_processes_and_remap():
    memory = parse(MEMORY)
    assert isinstance(memory, MemoryReport)
    assert memory.chips[0].figures["HBM Temperature(C)"] == 44
    assert memory.chips[0].hbm_capacity_mib == 65536
    assert parse(PROCESSES) == ProcessMemory(
        (
            ChipProcesses(None, 0, ()),
            ChipProcesses(None, 1, (ChipProcess(3111222, "", 47111), ChipProcess(3111333, "python3", 300))),
        )
    )
    assert parse(REMAP) == PhysicalIdRemap((RemappedChip(4, 0, 2, 0),))


def test_what_is_not_supported_is_said_and_not_made_up():
    assert parse(UNSUPPORTED) == Unsupported("This device does not support querying spod-info.")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (FAILURE_8005, DriverFailureError, "ret is -8005'; the driver can't be reached"),
        (FAILURE_8020, DriverFailureError, "ret is -8020'; another container or process holds the device"),
        ("dcmi get failed. ret is -8255.\n", DriverFailureError, "look the code up"),
        (
            "npu-smi: error while loading shared libraries: libc_sec.so: cannot open shared object file: "
            "No such file or directory\n",
            MissingLibraryError,
            "libc_sec.so is not found; mount /usr/local/Ascend/driver and add its lib64/common",
        ),
        ("bash: npu-smi: command not found\n", MissingToolError, "install the driver"),
        ("/bin/sh: 1: npu-smi: not found\n", MissingToolError, "install the driver"),
        ("open /dev/davinci_manager failed: No such device\n", NoSuchDeviceError, "`npu-smi info -m` lists"),
        (" \n\n", EmptyOutputError, "npu-smi's output is empty"),
        ("", EmptyOutputError, "npu-smi's output is empty"),
    ],
)
def test_a_failure_is_an_error_of_its_own_kind_and_never_zero_devices(text, kind, said):
    assert len(parse(info(card(0))).dies) == 1
    with pytest.raises(NpuSmiError) as error:
        parse(text)
    assert type(error.value) is kind
    assert said in str(error.value)
    assert str(error.value).startswith("stored.txt: ")
    assert error.value.exit_code == 4


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (natural, ["0", "7", "32768"], ["", "-1", "007", "1_0", " 1", "+1", "1.0", "\u0663", "9" * 19]),
        (integer, ["0", "-1", "45"], ["-", "-0", "--1", "-01", "1e3"]),
        (number, ["0", "0.0", "-4.5", "161.25"], ["", ".5", "5.", "1e3", "nan", "inf", "007.5", "9" * 13]),
        (usage, ["0    / 0", "3159 / 65536", "60156/ 65536"], ["3159", "/ 5", "3159 / -1", "1 / 2 / 3"]),
    ],
)
def test_a_value_is_exactly_of_its_form_or_refused(read, good, bad):
    for text in good:
        read(text)
    for text in bad:
        with pytest.raises(ValueError, match=r"is no|is not"):
            read(text)


def test_a_value_that_reads_like_a_failure_is_none():
    text = HEALTH.replace("Information              : NA", "Information              : ret is -8005")
    assert parse(text).chips[0].error_information == "ret is -8005"


MAPPING_HEADER = MAPPING.partition("\n")[0] + "\n"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("hello\n", "hello"),
        ("NPU ID Slot ID Chip ID Chip Serial Chip Name\n5 22 0 5 Ascend950PR\n", "Chip Serial"),
        (MAPPING.replace("Chip Logic ID", "Chip Lunar ID"), "Chip Lunar ID"),
        (MAPPING_HEADER, "at least one chip"),
        (MAPPING_HEADER + "0 0 0\n", "4 columns"),
        (MAPPING_HEADER + "x 0 0 Ascend 910B3\n", "'x' is no whole number"),
        (MAPPING_HEADER + "0 0 - Ascend 910B3\n", "'-' is no whole number"),
        (MAPPING_HEADER + "0 0 0 Ascend 910B3\n0 1 7 Mcu\n", "'7' for a controller's Chip Logic ID"),
        (MAPPING_HEADER + "0 0 0 Ascend 910B3\n0 0 1 Ascend 910B3\n", "NPU ID and Chip ID (0, 0) 2 times"),
        (MAPPING_HEADER + "0 0 0 Ascend 910B3\n1 0 0 Ascend 910B3\n", "Chip Logic ID 0 2 times"),
        (LISTING.replace(": 2", ": 1"), "expected 1 as Total Count says"),
        (LISTING.partition("\n\n")[0] + "\n", "at least one"),
        (LISTING.replace(": 2", ": two"), "'two' is no whole number"),
        (
            LISTING.replace("NPU ID                         : 3", "NPU ID                         : 0"),
            "twice",
        ),
        (HEALTH + "something else\n", "something else"),
        (HEALTH + HEALTH, "Health Status once"),
        (HEALTH.replace(": OK", ":"), "no health"),
        (HEALTH_OF_NPU + fields(("Health", "OK")), "a Chip ID after these lines; the output was cut short"),
        (HEALTH_OF_NPU.replace(": 2", ": 1"), "each chip once"),
        (USAGES_LAST.replace("Count                     : 2", "Count                     : 3"), "3, as Chip"),
        (USAGES_LAST.replace(": 86", ": 86%"), "'86%' is no number"),
        (USAGES_LAST.replace(": 1\n", ": 0\n"), "each chip once"),
        (BOARD + BOARD.partition("\n")[2], "Product Name once"),
        (PROCESSES.replace("    No process in device.\n", "", 1), "either processes of this chip or none"),
        (PROCESSES.replace("Chip ID                        : 1\n", ""), "a Chip ID after the last processes"),
        (PROCESSES.replace("47111", "many"), "'many' is no whole number"),
        (REMAP.replace(":0", ":"), "'' is no whole number"),
        (REMAP.replace(" NPU ID                      :2\n", ""), "the key NPU ID"),
    ],
)
def test_an_unknown_layout_is_an_error_that_quotes_the_line(text, quoted):
    for name, good in SAMPLES.items():
        if name != "failure":
            parse(good)
    with pytest.raises(UnknownLayoutError) as error:
        parse(text)
    assert quoted in str(error.value)
    assert str(error.value).startswith("stored.txt: ")
    assert error.value.exit_code == 2


def test_a_line_that_npu_smi_never_printed_is_refused_at_once_and_quoted_in_part():
    assert isinstance(parse_npu_smi(MAPPING.encode(), "stored.txt"), ChipMapping)
    with pytest.raises(UnknownLayoutError, match=r"stored\.txt: unknown npu-smi layout: .*'xxx") as error:
        parse_npu_smi(MAPPING.encode() + b"x" * 50_000_000, "stored.txt")
    assert len(str(error.value)) < 500


LOG = "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n"


@pytest.mark.parametrize(
    "text", [MAPPING, LISTING, HEALTH, info(card(0), card(3), processes=idle(0) + idle(3))]
)
def test_a_complaint_of_the_drivers_log_before_an_answer_changes_nothing(text: str) -> None:
    whole = parse_npu_smi(text.encode(), "here")
    assert parse_npu_smi((LOG + text).encode(), "here") == whole
    with pytest.raises(NpuSmiError):
        parse_npu_smi((LOG + FAILURE_8005).encode(), "here")
    with pytest.raises(UnknownLayoutError):
        parse_npu_smi(("something else failed\n" + text).encode(), "here")
