"""The emulated npu-smi: the layouts of npu-smi 25.5.1 on a 910B3, and what it says to a wrong question."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "emucann"
VERSION = "25.5.1+emulated"

Ask = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def npu_smi(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    program = tmp_path_factory.mktemp("npu_smi") / "npu-smi"
    files = [*sorted((SOURCES / "npu_smi").glob("*.cpp")), SOURCES / "config" / "config.cpp"]
    define = f"-DEMUCANN_DRIVER_VERSION={VERSION!r}".replace("'", '"')
    command = ["c++", "-std=c++17", f"-I{SOURCES}", define, "-o", str(program), *map(str, files)]
    subprocess.run(command, check=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EMUCANN_")}

    def ask(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([program, *words], env=clean | environment, capture_output=True, text=True)

    return ask


def fields(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^\s+(\S[^:\n]*?)\s+: (.*)$", text, flags=re.MULTILINE)


# npu-smi 25.5.1 on a host with 910B3; the emulated one must have the same frame, columns and headings.
REAL_TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.5.1                   Version: 25.5.1                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 102.8       45                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3445 / 65536         |
+===========================+===============+====================================================+
""".splitlines()


def columns(line: str) -> list[int]:
    """Where the frame's bars and the words stand."""
    return [match.start() for match in re.finditer(r"[|+]|(?<=[ |])\S", line)]


def test_the_table_has_the_real_ones_columns(npu_smi: Ask) -> None:
    result = npu_smi("info")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert {len(line) for line in lines} == {98}
    for number in (0, 2, 3, 4, 5, 8):
        assert lines[number] == REAL_TABLE[number]
    assert lines[1].split() == ["|", "npu-smi", VERSION, "Version:", VERSION, "|"]
    assert lines[1].index("Version:") == REAL_TABLE[1].index("Version:")
    assert columns(lines[6]) == columns(REAL_TABLE[6])
    assert columns(lines[7]) == columns(REAL_TABLE[7])
    assert (
        "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |"
        in lines
    )
    assert any("No running processes found in NPU 0" in line for line in lines)


def test_the_table_shows_the_devices_of_the_environment(npu_smi: Ask) -> None:
    result = npu_smi("info", EMUCANN_DEVICES="3", EMUCANN_MEMORY_MB="65536", EMUCANN_SOC="Ascend910B4")
    rows = [line for line in result.stdout.splitlines() if re.match(r"\| \d +910B4 ", line)]
    assert [row.split()[1] for row in rows] == ["0", "1", "2"]
    assert result.stdout.count("0    / 65536") == 3
    buses = re.findall(r"0000:..:00\.0", result.stdout)
    assert len(set(buses)) == 3


def test_the_map(npu_smi: Ask) -> None:
    result = npu_smi("info", "-m", EMUCANN_DEVICES="2")
    assert result.returncode == 0
    rows = [re.split(r"\s{2,}|\t", line.strip()) for line in result.stdout.splitlines()]
    assert rows == [
        ["NPU ID", "Chip ID", "Chip Logic ID", "Chip Name"],
        ["0", "0", "0", "Ascend 910B3"],
        ["0", "1", "-", "Mcu"],
        ["1", "0", "1", "Ascend 910B3"],
        ["1", "1", "-", "Mcu"],
    ]


def test_it_shows_all_devices_whatever_a_process_sees(npu_smi: Ask) -> None:
    all_of_them = npu_smi("info", "-m", EMUCANN_DEVICES="2")
    assert (
        npu_smi("info", "-m", EMUCANN_DEVICES="2", ASCEND_RT_VISIBLE_DEVICES="1").stdout == all_of_them.stdout
    )


def test_the_list(npu_smi: Ask) -> None:
    read = fields(npu_smi("info", "-l", EMUCANN_DEVICES="2").stdout)
    assert read[0] == ("Total Count", "2")
    assert [value for name, value in read if name == "NPU ID"] == ["0", "1"]
    assert ("Serial Number", "EMULATED0001") in read


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), [("NPU ID", "0"), ("Health", "OK"), ("NPU ID", "1"), ("Health", "OK")]),
        (("-i", "1"), [("Health", "OK")]),
        (
            ("-i", "1", "-c", "0"),
            [("Health Status", "OK"), ("Error Code", "NA"), ("Error Information", "NA")],
        ),
    ],
)
def test_health(npu_smi: Ask, words: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    assert fields(npu_smi("info", "-t", "health", *words, EMUCANN_DEVICES="2").stdout) == expected


def test_the_board_says_emulated(npu_smi: Ask) -> None:
    read = dict(fields(npu_smi("info", "-t", "board", "-i", "0").stdout))
    assert read["NPU ID"] == "0"
    assert read["Product Name"] == "emulated"
    assert read["Software Version"] == VERSION
    assert read["PCIe Bus Info"] == "0000:C1:00.0"
    chip = dict(fields(npu_smi("info", "-t", "board", "-i", "0", "-c", "1").stdout))
    assert chip["Chip Type"] == "mcu"


def test_version_and_help(npu_smi: Ask) -> None:
    assert VERSION in npu_smi("-v").stdout
    for words in ((), ("--help",)):
        result = npu_smi(*words)
        assert (result.returncode, "info -t health" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "environment", "message"),
    [
        (("info", "-t", "health", "-i", "1"), {}, "no NPU 1: expected 0 to 0, as EMUCANN_DEVICES says"),
        (("info", "-t", "board", "-i", "0", "-c", "2"), {}, "NPU 0 has no chip 2"),
        (("info", "-t", "health", "-i", "one"), {}, "-i one: expected a number"),
        (("info", "-t", "health", "-i"), {}, "-i: a value must follow"),
        (("info", "-t", "health", "-c", "0"), {}, "-c 0 needs -i"),
        (("info", "-t", "topo"), {}, "info -t topo"),
        (("info", "-x"), {}, "info -x: unknown option"),
        (("info", "-i", "0"), {}, "-i and -c go with info -t"),
        (("set",), {}, "set: the emulator knows the command info"),
        (("info",), {"EMUCANN_DEVICES": "none"}, "EMUCANN_DEVICES=none: expected a whole number"),
    ],
)
def test_a_wrong_question_gets_one_line_and_exit_1(
    npu_smi: Ask, words: tuple[str, ...], environment: dict[str, str], message: str
) -> None:
    assert npu_smi("info").returncode == 0
    result = npu_smi(*words, **environment)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("npu-smi: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
