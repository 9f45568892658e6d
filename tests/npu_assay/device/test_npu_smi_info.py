import dataclasses

import pytest
from npu_smi_texts import (
    A2,
    A3,
    C950,
    HEADER,
    HEAVY_RULE,
    P310,
    PROCESS_HEADER,
    RULE,
    TITLE,
    card,
    die_310p,
    die_950,
    dual_die,
    headless,
    idle,
    info,
    one_row_for_two,
    process,
    row,
)

from npu_assay.device.npu_smi.die_table import InfoDie
from npu_assay.device.npu_smi.errors import UnknownLayoutError
from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.process_table import DeviceProcess
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
        (info(card(0)).replace(HEADER, "") + TITLE + HEAVY_RULE, "npu-smi 25.3.9"),
        (info(card(0)).replace(A2.chip, ""), "'| 0 910B3 | OK | 91.5 41 0 / 0 |'"),
        (info(card(0)).replace(A2.card, ""), "found '| Chip | Bus-Id | AICore(%)"),
        (RULE + TITLE + HEAVY_RULE, "the header of the table of dies"),
        (info(), "at least one die"),
        (info(card(0), card(0)), "NPU 0 chip 0 twice"),
        (info(card(0)).replace("OK            ", "              "), "values for Health"),
        (info(card(0)).replace("3060 / 65536", "unknown     "), "unknown"),
        (info(card(0)).replace("0    / 0          3060", "0    / 0  7       3060"), "values for AICore"),
        (info(card(0, power="1e3")), "'1e3' is no number"),
        (info(card(0)).partition("| 0        ")[0] + HEAVY_RULE, "a second row for this die"),
        (info(card(0)).partition("| 0     910B3")[0], "at least one die"),
        (info(card(0)).partition("| NPU   Name")[0], "the header of the table of dies"),
        (info(card(0), card(1))[:-130] + "\n" + HEAVY_RULE, "a row between bars"),
        (info(card(0)) + "Segmentation fault\n" + RULE, "Segmentation fault"),
        (info(card(0), processes=process(0, 7) + idle(0)), "NPU 0 with processes and without"),
        (info(card(0), processes="| 3       0 | 22x | Core | 5 |\n"), "'22x' is no whole number"),
        (info(card(0), processes="| 3       0 | 22 | Core |\n"), "4 cells"),
    ],
)
def test_an_unknown_layout_or_one_without_dies_is_an_error_that_quotes_the_line(text, quoted):
    assert len(parse(info(card(0))).dies) == 1
    with pytest.raises(UnknownLayoutError) as error:
        parse(text)
    assert quoted in str(error.value)
    assert str(error.value).startswith("stored.txt: ")
    assert error.value.exit_code == 2


SHAPES = [
    (headless(card(0), card(3)), [(0, 0, None, None), (3, 0, None, None)]),
    (headless(dual_die(2, (4, 5)), title=TITLE), [(2, 0, 4, None), (2, 1, 5, None)]),
    (headless(die_310p(32768, 0, 3), die_310p(32800, 0, 4)), [(32768, 0, None, 3), (32800, 0, None, 4)]),
    (headless(die_310p(0, 0, 0).replace("0       0 ", "0         ")), [(0, 0, None, None)]),
    (headless(die_950(4), die_950(6)), [(4, None, None, None), (6, None, None, None)]),
]


@pytest.mark.parametrize(("text", "ids"), SHAPES, ids=["A2", "A3", "310P", "310", "950"])
def test_a_table_without_header_is_read_by_the_shape_of_its_rows_and_says_so(text, ids):
    read = parse(text)
    assert [(die.npu_id, die.chip_id, die.physical_id, die.device) for die in read.dies] == ids
    assert not read.has_header
    assert "no header: read by the shape of its rows" in read.notes
    assert "no header: read by the shape of its rows" not in parse(info(card(0))).notes


def test_by_its_shape_a_table_has_the_values_that_its_header_gives_it():
    for rows, layout in (
        (card(0) + card(3), A2),
        (dual_die(2, (4, 5)), A3),
        (die_310p(32768, 0, 3), P310),
        (die_950(4), C950),
    ):
        assert parse(headless(rows)).dies == parse(info(rows, layout=layout)).dies


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (headless(card(0), die_310p(1, 0, 0)), "| 0 0 | 0000:02:00.0 | 0 1533 / 44280 |"),
        (headless(card(0), dual_die(2, (4, 5))), "| 0 4 | 0000:92:00.0 | 0 0 / 0 3344 / 65536 |"),
        (headless(card(0, health="Fine")), "| 0 910B3 | Fine | 91.5 41 0 / 0 |"),
        (headless(card(0).replace("0000:00:00.0", "somewhere   ")), "| 0 | somewhere | 0 0 / 0"),
        (headless(card(0).replace("0    / 0          3060", "0    / 0   1 / 2   3060")), "0 / 0 1 / 2 3060"),
        (headless(card(0).replace("| 0     910B3", "| zero  910B3")), "| zero 910B3 | OK"),
        (headless(card(0).replace("| 0         ", "| zero      ")), "| zero | 0000:00:00.0"),
        (headless(A2.chip, card(0)), "| Chip | Bus-Id |"),
        (headless(card(0)) + A2.card + A2.chip + HEAVY_RULE, "NPU Name"),
        (headless(RULE + "| NPU Titel | Health | Watt Temp(C) |\n", card(0)), "NPU Titel"),
    ],
)
def test_a_shape_that_is_mixed_or_of_no_known_layout_is_refused(text, quoted):
    assert len(parse(headless(card(0))).dies) == 1
    with pytest.raises(UnknownLayoutError) as error:
        parse(text)
    assert quoted in str(error.value)


@pytest.mark.parametrize("text", [headless(one_row_for_two(0)), info(one_row_for_two(0))])
def test_the_dies_of_a_card_with_one_row_share_its_health_and_the_first_has_its_measures(text):
    read = parse(text)
    assert [
        (die.npu_id, die.chip_id, die.name, die.health, die.power_w, die.temperature_c, die.hugepages)
        for die in read.dies
    ] == [(0, 0, "910C", "OK", 205.5, 51, Usage(0, 0)), (0, 1, "910C", "OK", None, None, None)]
    assert [(die.bus_id, die.hbm_mib, die.utilisation_percent) for die in read.dies] == [
        ("0000:00:00.0", Usage(1111, 65536), 30),
        ("0000:00:00.1", Usage(2222, 65536), 70),
    ]
    assert read.shared_cards == (0,)
    assert any("NPU 0: one row for a card of several dies" in note for note in read.notes)
    assert not any("one row for a card" in note for note in parse(info(card(0), card(3))).notes)


def test_a_chip_row_behind_a_rule_is_no_further_die():
    """There a row of its card got lost, whose health may have been another one."""
    rows = row("1", "0000:00:00.1", "70          0    / 0          2222 / 65536")
    chips = row("0", "0000:00:00.0", "30          0    / 0          1111 / 65536")
    assert len(parse(info(one_row_for_two(0, chips=chips + rows))).dies) == 2
    with pytest.raises(UnknownLayoutError, match="values for NPU, Name"):
        parse(info(one_row_for_two(0, chips=chips + RULE + rows)))


def test_a_row_that_may_be_a_cards_or_a_chips_is_refused():
    table = dual_die(2, (4, 5)).replace(RULE, "")
    assert len(parse(info(table, layout=A3)).dies) == 2
    either = row("3     310", "OK", "-           NA                NA")
    either += row("0     6", "NA", "0           0    / 0          3120 / 65536")
    with pytest.raises(UnknownLayoutError, match="only be a card's or only a chip's"):
        parse(info(table.replace(HEAVY_RULE, either + HEAVY_RULE), layout=A3))


def cut_at(text: str, end: str) -> Info:
    """What is read of a text that ends with (the first) `end`."""
    begin, found, _ = text.partition(end)
    assert found
    return parse(begin + found)


WHOLE = info(card(0), dual_die(2, (4, 5)).replace("0     4", "0").replace("1     5", "1"))


def test_a_table_that_ends_before_its_end_is_read_as_far_as_it_goes():
    whole = parse(WHOLE)
    assert (len(whole.dies), whole.cut) == (3, None)
    after_card = cut_at(WHOLE, "171.2       35                0    / 0 |")
    assert after_card.dies[0] == whole.dies[0]
    assert after_card.dies[1] == dataclasses.replace(
        whole.dies[1], chip_id=None, bus_id=None, utilisation_percent=None, memory_mib=None, hbm_mib=None
    )
    assert str(after_card.cut) == "cut short after line 10: '| 2 Ascend910 | OK | 171.2 35 0 / 0 |'"
    within_chip = cut_at(WHOLE, "0    / 0          33")
    assert within_chip.dies[1] == dataclasses.replace(whole.dies[1], hbm_mib=None)
    assert within_chip.cut is not None
    assert within_chip.cut.after_line == 11


@pytest.mark.parametrize(
    ("end", "places"),
    [
        ("| 2", [(0, 0)]),
        ("| 2 ", [(0, 0), (2, None)]),
        ("0000:92", [(0, 0), (2, 0)]),
        ("3344 / 65536 |", [(0, 0), (2, 0)]),
        ("3344 / 65536 |\n" + RULE[:9], [(0, 0), (2, 0)]),
        ("3344 / 65536 |\n" + RULE.rstrip(), [(0, 0), (2, 0)]),
        ("3120 / 65536 |\n", [(0, 0), (2, 0), (2, 1)]),
        ("3120 / 65536 |\n+===========================+", [(0, 0), (2, 0), (2, 1)]),
    ],
)
def test_a_die_whose_ids_are_cut_is_left_out_and_no_cut_is_silent(end, places):
    read = cut_at(WHOLE, end)
    assert [(die.npu_id, die.chip_id) for die in read.dies] == places
    assert read.cut is not None


TWO = info(card(0), card(3), card(4), processes=idle(0) + HEAVY_RULE + process(3, 7) + process(3, 8))


@pytest.mark.parametrize(
    ("end", "known"),
    [
        (RULE + PROCESS_HEADER[:60], [None, None, None]),
        (RULE + PROCESS_HEADER, [None, None, None]),
        (PROCESS_HEADER + HEAVY_RULE, [None, None, None]),
        ("found in NPU 0", [None, None, None]),
        (idle(0), [0, None, None]),
        ("VLLMEngineCore | 55123", [0, None, None]),
        ("VLLMEngineCore | 55123          |", [0, 1, None]),
    ],
)
def test_what_a_cut_table_of_processes_does_not_say_is_not_known(end, known):
    assert [die.npu_id for die in parse(TWO).dies] == [0, 3, 4]
    read = cut_at(TWO, end)
    assert len(read.dies) == 3
    assert read.cut is not None
    running = [read.processes_of(die) for die in read.dies]
    assert [None if one is None else len(one) for one in running] == known


def test_an_npu_that_the_table_of_processes_does_not_name_may_have_some():
    read = parse(TWO)
    assert [read.processes_of(die) is None for die in read.dies] == [False, False, True]
    assert list(read.notes) == ["NPU 4: its table of processes does not name this NPU"]
    assert list(parse(info(card(0), processes=idle(0))).notes) == []
    other_chip = parse(info(dual_die(2, (4, 5)), layout=A3, processes=process(2, 7, chip=1)))
    assert [other_chip.processes_of(die) for die in other_chip.dies] == [(), other_chip.processes]
