import pytest
from npu_smi_texts import (
    A3,
    C950,
    HEADER,
    HEAVY_RULE,
    P310,
    RULE,
    TITLE,
    card,
    die_310p,
    die_950,
    dual_die,
    idle,
    info,
    process,
    row,
)

from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.info import DeviceProcess, Info, InfoDie
from npu_assay.device.npu_smi.recognise import parse_npu_smi
from npu_assay.device.npu_smi.values import Usage


def parse(text: str) -> Info:
    read = parse_npu_smi(text.encode(), "stored.txt")
    assert isinstance(read, Info)
    return read


def test_a_die_is_read_by_its_header():
    read = parse(info(card(3, hbm="60156/ 65536")))
    assert read == Info(
        version="25.3.9",
        dies=(
            InfoDie(
                npu_id=3,
                chip_id=0,
                physical_id=None,
                device=None,
                name="910B3",
                health="OK",
                bus_id="0000:03:00.0",
                power_w=91.5,
                temperature_c=41,
                utilisation_percent=0.0,
                memory_mib=Usage(0, 0),
                hbm_mib=Usage(60156, 65536),
                hugepages=Usage(0, 0),
            ),
        ),
        processes=None,
    )


def test_two_dies_of_a_card_have_physical_ids_and_the_second_measures_no_power():
    dies = parse(info(dual_die(2, (4, 5)), layout=A3)).dies
    assert [(die.npu_id, die.chip_id, die.physical_id, die.power_w) for die in dies] == [
        (2, 0, 4, 171.2),
        (2, 1, 5, None),
    ]


def test_a_chip_without_hbm_has_other_memory_and_any_number():
    text = info(die_310p(32768, 0, 3), die_310p(32768, 1, 4, bus="NA"), layout=P310)
    dies = parse(text).dies
    assert [(die.npu_id, die.chip_id, die.device, die.bus_id) for die in dies] == [
        (32768, 0, 3, "0000:02:00.0"),
        (32768, 1, 4, None),
    ]
    assert (dies[0].hbm_mib, dies[0].memory_mib, dies[0].power_w) == (None, Usage(1533, 44280), None)


def test_the_950_has_no_chip_column_and_cells_that_stay_empty():
    header = "| NPU ID | Process id | Process name | Process memory(MB) |\n"
    table = RULE + header + HEAVY_RULE + idle(4) + row("6", "1650001", "VLLMWorker", "119700") + HEAVY_RULE
    read = parse(info(die_950(4), die_950(6), layout=C950) + table)
    assert [(die.npu_id, die.chip_id, die.name) for die in read.dies] == [
        (4, None, "Ascend950PR"),
        (6, None, "Ascend950PR"),
    ]
    assert read.dies[0].hbm_mib == Usage(6222, 131072)
    assert read.processes_of(read.dies[1]) == (DeviceProcess(6, None, 1650001, "VLLMWorker", 119700),)
    assert read.processes_of(read.dies[0]) == ()


@pytest.mark.parametrize("power", ["-", "NA"])
def test_a_value_that_is_not_measured_is_no_number(power):
    assert parse(info(card(0, power="0.0"))).dies[0].power_w == 0.0
    assert parse(info(card(0, power=power))).dies[0].power_w is None


def test_columns_are_found_wherever_they_stand():
    swapped = info(card(0)).replace("Power(W)    Temp(C)", "Temp(C)     Power(W)")
    die = parse(swapped.replace("91.5        41   ", "41          91.5 ")).dies[0]
    assert (die.power_w, die.temperature_c) == (91.5, 41)
    without_title = parse(info(card(0), title=""))
    assert (without_title.version, len(without_title.dies)) == (None, 1)


def test_the_process_table_is_no_die():
    read = parse(info(card(0), card(3), processes=idle(0) + process(3, 2290111)))
    assert [die.npu_id for die in read.dies] == [0, 3]
    assert read.processes == (DeviceProcess(3, 0, 2290111, "VLLMEngineCore", 55123),)
    assert read.idle_npus == (0,)


def test_a_container_has_its_own_process_ids():
    header = "| NPU     Chip | Process id | Process name | Process memory(MB) | Process id in container |\n"
    rows = row("0       0", "692300", "python3", "12400", "NA") + row("0       0", "692301", "", "12", "17")
    read = parse(info(card(0)) + RULE + header + HEAVY_RULE + rows + HEAVY_RULE)
    assert read.processes is not None
    assert [(one.pid, one.name, one.container_pid) for one in read.processes] == [
        (692300, "python3", None),
        (692301, "", 17),
    ]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (info(card(0)).replace("Chip                 ", "Chip  Serial         "), "Chip Serial"),
        (info(card(0)).replace("Health ", "Healthy"), "Healthy"),
        (info(card(0)).replace("Temp(C)", "Temp(F)"), "Temp(F)"),
        (info(card(0)).replace(HEADER, ""), "'| 0 910B3 | OK | 91.5 41 0 / 0 |'"),
        (info(card(0)).replace(HEADER, "") + TITLE + HEAVY_RULE, "the header of the table of dies"),
        (RULE + TITLE + HEAVY_RULE, "the header of the table of dies"),
        (info(), "at least one die"),
        (info(card(0), card(0)), "NPU 0 chip 0 twice"),
        (info(card(0)).replace("OK            ", "              "), "values for Health"),
        (info(card(0)).replace("3060 / 65536", "unknown     "), "unknown"),
        (info(card(0)).replace("0    / 0          3060", "0    / 0  7       3060"), "values for AICore"),
        (info(card(0, power="1e3")), "'1e3' is no number"),
        (info(card(0)).partition("| 0        ")[0] + RULE, "a second row for this die; the output was cut"),
        (info(card(0)).rpartition("+=")[0].rstrip("+="), "the rule that closes the table"),
        (info(card(0), card(1))[:-130] + "\n" + HEAVY_RULE, "a row between bars"),
        (info(card(0)) + "Segmentation fault\n" + RULE, "Segmentation fault"),
        (info(card(0), processes=HEAVY_RULE), "processes, or a word that there are none"),
        (info(card(0), processes=process(0, 7) + idle(0)), "NPU 0 with processes and without"),
        (info(card(0), processes="| 3       0 | 22x | Core | 5 |\n"), "'22x' is no whole number"),
        (info(card(0), processes="| 3       0 | 22 | Core |\n"), "4 cells"),
    ],
)
def test_an_unknown_layout_or_a_cut_output_is_an_error_that_quotes_the_line(text, quoted):
    assert len(parse(info(card(0))).dies) == 1
    with pytest.raises(UnknownLayoutError) as error:
        parse(text)
    assert quoted in str(error.value)
    assert str(error.value).startswith("stored.txt: ")
    assert error.value.exit_code == 2


def test_a_second_die_without_a_row_for_its_card_is_refused():
    """As one synthetic dual-die table has it: three rows a card."""
    third = row("1", "0000:00:00.1", "70          0    / 0          2048 / 65536") + HEAVY_RULE
    with pytest.raises(UnknownLayoutError, match="a second row for this die"):
        parse(info(card(0).replace(HEAVY_RULE, third)))
