import pytest
from npu_smi_texts import HEALTH, HEAVY_RULE, LISTING, MAPPING, RULE, TITLE, card, info

from npu_assay.device.npu_smi.blocks import HealthReport, ListedNpu, Listing
from npu_assay.device.npu_smi.errors import DriverFailureError, UnknownLayoutError
from npu_assay.device.npu_smi.info import Card, DeviceProcess, Usage
from npu_assay.device.npu_smi.mapping import ChipMapping, MappedChip
from npu_assay.device.npu_smi.recognise import parse_npu_smi


def parse(text: str):
    return parse_npu_smi(text.encode(), "stored.txt")


def test_a_card_is_read_by_its_header():
    read = parse(info(card(3, hbm="60156/ 65536")))
    assert (read.version, read.layout) == ("25.3.9", "910B")
    assert read.cards == (
        Card(
            npu_id=3,
            chip_id=0,
            name="910B3",
            health="OK",
            bus_id="0000:03:00.0",
            power_w=91.5,
            temperature_c=41,
            hbm_mib=Usage(60156, 65536),
        ),
    )


@pytest.mark.parametrize("power", ["-", "NA"])
def test_a_value_that_is_not_measured_is_no_number(power):
    assert parse(info(card(0, power="0.0"))).cards[0].power_w == 0.0
    assert parse(info(card(0, power=power))).cards[0].power_w is None


def test_the_process_table_is_no_card():
    row = (
        "| 3       0                 | 2290156       | VLLMEngineCore           | 56630                   |\n"
    )
    idle = (
        "| No running processes found in NPU 0                                                            |\n"
    )
    read = parse(info(card(0), card(3), processes=idle + row))
    assert [card.npu_id for card in read.cards] == [0, 3]
    assert read.processes == (DeviceProcess(3, 0, 2290156, "VLLMEngineCore", 56630),)


def test_controllers_are_no_chips():
    assert parse(MAPPING) == ChipMapping(
        (MappedChip(0, 0, 0, None, "Ascend 910B3"), MappedChip(3, 0, 1, None, "Ascend 910B3"))
    )


def test_a_physical_id_is_read_where_it_is_there_and_minus_one_is_unusable():
    header = "NPU ID    Chip ID    Chip Logic ID    Chip Phy-ID    Chip Name\n"
    chips = parse(header + "0    0    0    8    Ascend 910B3\n-1    0    1    9    Ascend 910B3\n").chips
    assert [(chip.physical_id, chip.usable) for chip in chips] == [(8, True), (9, False)]


def test_listing_and_health():
    assert parse(LISTING) == Listing((ListedNpu(0, 1), ListedNpu(3, 1)))
    assert parse(HEALTH) == HealthReport("OK", "NA", "NA")


def test_a_controllers_health_is_not_the_npus():
    npu = "NPU ID : 0\nHealth : Alarm\nError Code : 80E18005\nError Information : hot\nChip ID : 0\n\n"
    assert parse(npu + "Health : OK\nError Code : NA\nChip ID : 1\n") == HealthReport(
        "Alarm", "80E18005", "hot"
    )


FAILURES = [
    "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\ndcmi module initialize failed. ret is -8005\n",
    "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n"
    "dcmi model initialized failed, because the device is used. ret is -8020\n",
]


@pytest.mark.parametrize("text", FAILURES)
def test_a_driver_that_does_not_answer_is_an_error_and_not_zero_cards(text):
    assert len(parse(info(card(0))).cards) == 1
    with pytest.raises(DriverFailureError, match=r"stored.txt: .*ret is -80") as error:
        parse(text)
    assert error.value.exit_code == 4


A3_CHIP_ROW = (
    "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |"
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", "nothing"),
        ("npu-smi: command not found\n", "npu-smi: command not found"),
        (info(card(0)).replace("Chip                 ", "Chip  Phy-ID         "), "Chip  Phy-ID"),
        (info(card(0)).replace("Health ", "Healthy"), "Healthy"),
        (info(card(0)).replace(TITLE, ""), "the line with npu-smi's version"),
        (info(), "at least one card"),
        (info(card(0)).replace("OK            ", "              "), "values for Health"),
        (info(card(0)).replace("3060 / 65536", "unknown     "), "unknown"),
        (info(card(0)).replace("0    / 0          3060", "0    / 0  7       3060"), "values for AICore"),
        (RULE + TITLE + HEAVY_RULE, "the header of 910B"),
        (info(card(0)).rpartition("| 0  ")[0], "3 cells"),
        (info(card(0), processes="| 3       0 | 22x | Core | 5 |\n"), "a row of the process table"),
        ("NPU ID Slot ID Chip ID Chip Phy-ID Chip Name\n5 22 0 5 Ascend950PR\n", "NPU ID Slot ID"),
        (MAPPING.replace("Chip Logic ID", "Chip Slot ID "), "Chip Slot ID"),
        (MAPPING.partition("\n")[0] + "\n", "at least one chip"),
        (
            MAPPING.replace("\t3                              0", "\tx                              0"),
            "numbers",
        ),
        (MAPPING.replace("Ascend 910B3", "Ascend  910B3"), "4 columns"),
        (LISTING.replace(": 2", ": 3"), "3 NPUs"),
        (LISTING.replace(": 2", ": two"), "numbers for Total Count"),
        (HEALTH + "something else\n", "something else"),
    ],
)
def test_an_unknown_layout_is_an_error_that_quotes_the_line(text, quoted):
    for good in (info(card(0)), MAPPING, LISTING, HEALTH):
        parse(good)
    with pytest.raises(UnknownLayoutError) as error:
        parse(text)
    assert quoted in str(error.value)
    assert str(error.value).startswith("stored.txt: ")
    assert error.value.exit_code == 2
