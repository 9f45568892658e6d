"""One host's outputs, put together."""

import pytest
from npu_smi_texts import (
    A3,
    BOARD,
    BOARD_CONTROLLER,
    C950,
    HEALTH,
    HEALTH_OF_NPU,
    HEAVY_RULE,
    LISTING,
    MAPPING,
    MAPPING_950,
    MAPPING_A3,
    MEMORY,
    P310,
    PROCESS_HEADER,
    PROCESSES,
    REMAP,
    RULE,
    SICK,
    UNSUPPORTED,
    USAGES_BARE,
    USAGES_FIRST,
    USAGES_LAST,
    card,
    die_310p,
    die_950,
    dual_die,
    fields,
    headless,
    idle,
    info,
    one_row_for_two,
    process,
)

from npu_assay.device.choice import take_free_dies
from npu_assay.device.die import Memory
from npu_assay.device.health import changes, faults_of, uses_of
from npu_assay.device.host import Host, join
from npu_assay.device.kind import choose_kind
from npu_assay.device.stored import read_answers
from npu_assay.errors import UnusableError, UsageError


@pytest.fixture
def joined(tmp_path):
    """Joins texts as files of one folder."""

    def join_texts(*texts: str, **named: str) -> Host:
        for number, text in enumerate(texts):
            (tmp_path / f"{number}.txt").write_text(text)
        for name, text in named.items():
            (tmp_path / f"{name.replace('_', '-')}.txt").write_text(text)
        return join(read_answers([tmp_path]))

    return join_texts


def test_a_healthy_host(host):
    read = join(read_answers([host]))
    assert (read.problems, faults_of(read.dies), read.npu_smi_version) == ((), [], "25.3.9")
    assert [(die.npu_id, die.logical_id, die.health, die.hbm.total_mib) for die in read.dies] == [
        (0, 0, "OK", 65536),
        (3, 1, "OK", 65536),
    ]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("a.txt", info(card(0), card(3, health="Alarm")), "NPU 3 chip 0: health is Alarm, expected OK"),
        ("a.txt", info(card(0), card(3, health="UNKNOWN")), "NPU 3 chip 0: health is UNKNOWN"),
        ("a.txt", info(card(0), card(3, hbm="0    / 0")), "NPU 3 chip 0: no HBM and no other memory"),
        ("a.txt", info(card(0)), "NPU 3 chip 0: in only one of npu-smi info and info -m"),
        ("b.txt", MAPPING.replace("\t3", "\t5"), "NPU 3 chip 0: in only one of"),
        ("b.txt", MAPPING.replace("\t3 ", "\t-1"), "chip 0 (Ascend 910B3): NPU ID -1, unusable"),
        ("c.txt", LISTING.replace(": 3\n", ": 4\n"), "NPU 3: in only one of npu-smi info and info -l"),
        ("c.txt", LISTING.replace(": 1\n", ": 2\n"), "NPU 3: 1 dies, but info -l counts 2 chips"),
        ("d.txt", SICK, "d.txt: health is Alarm, expected OK (error code 80E18005, sensor type=Temperature)"),
    ],
)
def test_whatever_is_wrong_is_named(host, file, text, problem):
    good = join(read_answers([host]))
    assert (*good.problems, *faults_of(good.dies)) == ()
    (host / file).write_text(text)
    bad = join(read_answers([host]))
    assert problem in "\n".join((*bad.problems, *faults_of(bad.dies)))


def test_everything_that_is_said_of_a_die_comes_together(joined):
    read = joined(info(dual_die(2, (4, 5)), layout=A3), MAPPING_A3, REMAP, USAGES_LAST)
    assert read.problems == ()
    first, second = read.dies
    assert (first.logical_id, first.physical_id, first.name, first.temperature) == (0, 4, "Ascend910", 35)
    assert (first.hbm.used_mib, first.bus_id) == (3344, "0000:92:00.0")
    assert (second.logical_id, second.physical_id, second.power_w, second.processes) == (1, 5, None, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            MAPPING_A3.replace("5          ", "6          ", 1),
            "NPU 2 chip 1: physical id is 5 and, by info -m, 6",
        ),
        (
            REMAP.replace("Physical ID            :4", "Physical ID            :7"),
            "physical id is 4 and, by ",
        ),
        (USAGES_LAST.replace("65536", "32768"), "NPU 2 chip 0: HBM of 65536 MiB and, by "),
    ],
)
def test_outputs_that_contradict_each_other_are_a_problem(joined, text, problem):
    table = info(dual_die(2, (4, 5)), layout=A3)
    assert joined(table).problems == ()
    assert problem in "\n".join(joined(table, text).problems)


def test_a_process_is_on_a_die_that_is_shown(joined):
    assert joined(info(card(0), processes=process(0, 7))).problems == ()
    (problem,) = joined(info(card(0), processes=process(2, 7))).problems
    assert problem == "process 7: on NPU 2 chip 0, which npu-smi info does not show"


def test_the_950s_table_has_no_chip_and_its_mapping_has_no_logical_id(joined):
    read = joined(info(die_950(4), die_950(6), layout=C950), MAPPING_950)
    assert read.problems == ()
    assert [(die.npu_id, die.chip_id, die.physical_id, die.logical_id) for die in read.dies] == [
        (4, 0, 4, None),
        (6, 0, 6, None),
    ]


def test_a_duo_is_two_dies_under_one_number(joined):
    read = joined(info(die_310p(2, 0, 0), die_310p(2, 1, 1), layout=P310))
    assert [(die.npu_id, die.chip_id, die.hbm) for die in read.dies] == [(2, 0, None), (2, 1, None)]
    assert read.dies[0].memory.total_mib == 44280
    assert faults_of(read.dies) == []


def test_a_controllers_health_is_not_a_dies(joined):
    table = info(dual_die(2, (4, 5)), layout=A3, processes=idle(2))
    sick_die = joined(table, MAPPING_A3, HEALTH_OF_NPU)
    assert [die.health for die in sick_die.dies] == ["OK", "Warning"]
    assert sick_die.notes == ()
    text = HEALTH_OF_NPU.replace("Warning", "OK").replace("OK", "Alarm", 3).replace("Alarm", "OK", 2)
    sick_controller = joined(table, MAPPING_A3, text)
    assert [die.health for die in sick_controller.dies] == ["OK", "OK"]
    assert "its board's controller (chip 2) reports Alarm" in sick_controller.notes[0]


def test_the_health_of_an_npu_is_that_of_all_its_dies(joined):
    text = fields(("NPU ID", 2), ("Health", "Alarm"), ("Error Code", "80E18005"))
    assert [die.health for die in joined(info(dual_die(2, (4, 5)), layout=A3), text).dies] == ["Alarm"] * 2


def test_the_file_of_a_live_query_says_which_chip_was_asked(joined):
    both = info(card(0), card(3))
    anonymous = joined(both, SICK)
    assert "health is Alarm" in anonymous.problems[0]
    named = joined(both, HEALTH, npu_smi_health_3_0=SICK)
    assert [(die.health, die.error_code) for die in named.dies] == [("OK", None), ("Alarm", "80E18005")]
    assert named.problems == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MAPPING_950, [(4, 0, None), (6, 0, None)]),
        (HEALTH, [(None, None, "OK")]),
        (BOARD, [(3, None, None)]),
        (LISTING, [(0, None, None), (3, None, None)]),
        (USAGES_FIRST, [(0, 0, None)]),
        (MEMORY, [(None, None, None)]),
        (PROCESSES, [(None, 0, None), (None, 1, None)]),
        (REMAP, [(2, 0, None)]),
    ],
)
def test_one_output_alone_says_what_it_knows_and_nothing_more(joined, text, expected):
    assert [(die.npu_id, die.chip_id, die.health) for die in joined(text).dies] == expected


def test_of_one_output_alone_everything_that_it_says_is_kept(joined):
    (usages,) = joined(USAGES_FIRST).dies
    assert usages.figures == {"Memory Capacity(MB)": 10777, "Memory Usage Rate(%)": 34}
    assert usages.memory == Memory(used_mib=None, total_mib=10777)
    (memory,) = joined(MEMORY).dies
    assert memory.figures is not None
    assert memory.figures["HBM Temperature(C)"] == 44
    assert memory.temperature is None  # which is the die's
    (board,) = joined(BOARD).dies
    assert (board.product_name, board.serial_number) == ("IT22XXXX02", "S0003")
    assert (board.driver_version, board.firmware_version) == ("25.3.9", "7.1.0.4.999")
    assert [die.product_name for die in joined(LISTING).dies] == ["IT21XXXX01", None]
    assert [die.place for die in joined(PROCESSES).dies] == [
        "chip 0 of an NPU without id",
        "chip 1 of an NPU without id",
    ]


def test_a_board_of_unknown_memory_is_not_one_without(joined):
    assert faults_of(joined(info(card(0, hbm="0    / 0"))).dies) == [
        "NPU 0 chip 0: no HBM and no other memory, expected some"
    ]
    with_address = BOARD + fields(("PCIe Bus Info", "0000:61:00.0"))
    assert faults_of(joined(with_address).dies) == ["NPU 3: its health is not known; ask npu-smi info too"]


def test_figures_of_several_outputs_come_together_and_a_cards_are_each_dies(joined):
    (die,) = joined(info(card(3)), BOARD, USAGES_BARE, MEMORY).dies
    assert die.figures is not None
    assert (die.figures["NPU Utilization(%)"], die.figures["HBM Clock Speed(MHz)"]) == (54, 1600)
    other = BOARD.replace("S0003", "S0004")
    assert "serial number is S0003 and, by " in joined(info(card(3)), BOARD, other, MEMORY).problems[0]


def test_what_is_said_of_a_card_is_true_of_each_of_its_dies(joined):
    read = joined(info(dual_die(3, (4, 5)), layout=A3), BOARD)
    assert [one.serial_number for one in read.dies] == ["S0003", "S0003"]


CUT = info(card(0), card(3)).rpartition("| 0                         |")[0]


def test_a_cut_output_is_a_problem_and_none_of_its_dies_is_free(joined, tmp_path):
    whole = joined(info(card(0), card(3), processes=idle(0) + idle(3)), MAPPING)
    assert (whole.cut, whole.problems) == ((), ())
    cut = joined(CUT, MAPPING)
    said = f"{tmp_path}/0.txt: cut short after line 10: '| 3 910B3 | OK | 91.5 41 0 / 0 |'"
    assert (cut.cut, cut.problems) == ((said,), (said,))
    assert [(die.npu_id, die.chip_id, die.logical_id, die.bus_id) for die in cut.dies] == [
        (0, 0, 0, "0000:00:00.0"),
        (3, 0, 1, None),
    ]
    take_free_dies(whole, 1, {}, tmp_path).release()
    with pytest.raises(UnusableError, match=r"none can be called free: .*cut short after line 10"):
        take_free_dies(cut, 1, {}, tmp_path)


def test_a_list_of_fewer_npus_than_it_announces_is_a_problem(joined, tmp_path):
    assert joined(info(card(0), card(3)), LISTING).problems == ()
    said = f"{tmp_path}/1.txt: cut short after line 9: 'Chip Count : 1'"
    cut = LISTING.replace(": 2\n", ": 8\n")
    assert joined(info(card(0), card(3)), cut).problems == (said,)
    assert joined(info(card(0), card(3), card(5)), cut).problems == (said,)  # 5 may be one of the eight
    other = "NPU 3: in only one of npu-smi info and info -l"
    assert joined(info(card(0), card(5)), cut).problems == (said, other)


def test_what_a_cut_table_does_not_show_is_no_contradiction(joined, tmp_path):
    (problem,) = joined(info(card(0)).rstrip("+=\n"), MAPPING, LISTING).problems
    assert problem.startswith(f"{tmp_path}/0.txt: cut short after line ")
    whole = joined(info(card(0)), MAPPING, LISTING).problems
    assert whole == ("NPU 3 chip 0: in only one of npu-smi info and info -m",)


def test_a_last_value_that_may_be_cut_is_noted(joined, tmp_path):
    table = info(card(0), processes=idle(0))
    assert joined(table, USAGES_BARE).notes == ()
    note = f"{tmp_path}/1.txt: no line break ends its last line, whose value may be cut"
    assert joined(table, USAGES_BARE[:-3]).notes == (note,)  # 161 W, not 161.5
    assert joined(table.rstrip(), USAGES_BARE).notes == ()


def test_how_a_table_was_read_is_noted_with_its_file(joined, tmp_path):
    assert joined(info(card(0), processes=idle(0))).notes == ()
    table = headless(one_row_for_two(0)) + RULE + PROCESS_HEADER + HEAVY_RULE + idle(0) + HEAVY_RULE
    assert joined(table).notes == (
        f"{tmp_path}/0.txt: no header: read by the shape of its rows",
        f"{tmp_path}/0.txt: NPU 0: one row for a card of several dies; its health is taken for each die's, "
        f"its power and temperature stand with the first",
    )


def test_outputs_of_no_die_are_refused_with_the_reason(joined):
    with pytest.raises(UsageError, match="This device does not support querying spod-info"):
        joined(UNSUPPORTED)
    with pytest.raises(UsageError, match=r"0.txt: of a board's controller, which is no die; give"):
        joined(BOARD_CONTROLLER)
    with pytest.raises(UsageError, match=r"no die is named in .*0.txt"):
        joined(HEALTH_OF_NPU)  # which of its chips is a controller, only info -m says


def test_stored_output_is_of_one_host(host, tmp_path):
    read_answers(sorted(host.iterdir()))
    (tmp_path / "again.txt").write_text(info(card(0)))
    with pytest.raises(UsageError, match=r"a.txt and .*again.txt both hold npu-smi info;"):
        read_answers([host, tmp_path / "again.txt"])
    with pytest.raises(UsageError, match=r"nowhere: can't be read \(No such file"):
        read_answers([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"empty: no \.txt file in it"):
        read_answers([tmp_path / "empty"])


@pytest.mark.parametrize(
    ("table", "use"),
    [
        (info(card(0), processes=process(0, 77)), "NPU 0 chip 0: used by process 77 (VLLMEngineCore, 55123"),
        (
            info(card(0, hbm="4097 / 65536"), processes=idle(0)),
            "4097 MiB of HBM in use, an idle die has 4096",
        ),
        (info(die_950(4, hbm="8193  / 131072"), layout=C950), "8193 MiB of HBM in use, an idle die has 8192"),
        (info(die_310p(2, 0, 0, memory="9000 / 44280"), layout=P310), "9000 MiB of memory in use"),
    ],
)
def test_a_die_is_in_use_by_its_processes_or_by_its_memory(joined, table, use):
    assert uses_of(joined(info(card(0, hbm="4096 / 65536"), processes=idle(0))).dies) == []
    assert uses_of(joined(info(die_950(4), layout=C950)).dies) == []
    assert use in uses_of(joined(table).dies)[0]


@pytest.mark.parametrize(
    ("after", "change"),
    [
        (info(card(0), processes=idle(0)), "NPU 3 chip 0: there before the run, gone after it"),
        (info(card(0), card(3), card(4), processes=idle(0)), "NPU 4 chip 0: not there before the run"),
        (
            info(card(0), card(3), processes=idle(0) + process(3, 8) + process(3, 9)),
            "NPU 3 chip 0: process 9 (VLLMEngineCore, 55123 MiB) was left on it",
        ),
    ],
)
def test_what_a_run_leaves_is_seen(joined, after, change):
    before = joined(info(card(0), card(3), processes=idle(0) + process(3, 8)))
    assert changes(before, before, before.dies) == []
    host = joined(after)
    assert changes(before, host, host.dies) == [change]


def test_the_kind_of_device_is_never_a_surprise(tmp_path):
    assert choose_kind("auto", tmp_path) == ("emulated", f"emulated, as there is no {tmp_path}/davinci*")
    assert choose_kind("emulated", tmp_path)[0] == "emulated"
    with pytest.raises(UnusableError, match="no NPU; use --device emulated"):
        choose_kind("npu", tmp_path)
    (tmp_path / "davinci_manager").touch()
    assert choose_kind("auto", tmp_path)[0] == "emulated"
    (tmp_path / "davinci3").touch()
    assert choose_kind("emulated", tmp_path)[0] == "emulated"
    for wanted in ("auto", "npu"):
        assert choose_kind(wanted, tmp_path) == ("hardware", f"hardware, as there is {tmp_path}/davinci3")
