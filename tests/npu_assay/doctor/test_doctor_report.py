"""doctor's own part: nothing is lost on the way to the screen and to JSON, and the worst comes first."""

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.doctor.examination import examine
from npu_assay.doctor.presentation import show
from npu_assay.doctor.report import DoctorReport
from npu_assay.errors import UnusableError

GOOD = Diagnosis("cann", Level.GOOD, "CANN 9.0.0 B250")
NOTE = Diagnosis("defect", Level.NOTE, "79fc599 loads nothing")
WARNING = Diagnosis("other-cann", Level.WARNING, "there is an 8.5.1 too", "nothing has to be done")
PROBLEM = Diagnosis("triton", Level.PROBLEM, "triton lies beside triton-ascend", "pip uninstall triton")


def screen(*groups: tuple[str, list[Diagnosis]], colour: bool = False) -> str:
    report = DoctorReport.of("small", "emulated", examine({name: lambda d=d: d for name, d in groups}))
    console = Console(file=io.StringIO(), width=20, force_terminal=colour)
    show(report, console)
    return console.file.getvalue()


def test_a_machine_without_a_problem_is_called_that() -> None:
    assert screen(("cann", [GOOD]), ("environment", [NOTE])).splitlines() == [
        "small on an emulated NPU",
        "+ cann         CANN 9.0.0 B250",
        "- environment  79fc599 loads nothing",
        "no problem",
    ]


def test_what_is_wrong_comes_first_with_what_mends_it() -> None:
    lines = screen(("cann", [GOOD, WARNING]), ("environment", [NOTE, PROBLEM])).splitlines()
    assert lines[1:5] == [
        "x environment  triton lies beside triton-ascend",
        "               do: pip uninstall triton",
        "! cann         there is an 8.5.1 too",
        "               do: nothing has to be done",
    ]
    assert lines[-1] == "1 problem, 1 warning"


def test_colour_is_only_added() -> None:
    import re

    groups = ("cann", [GOOD, WARNING]), ("environment", [PROBLEM])
    coloured = screen(*groups, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == screen(*groups)


def _breaks(error: Exception) -> Iterator[Diagnosis]:
    yield GOOD
    raise error


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (UnusableError("/usr/local/Ascend/version.cfg:3: no value"), "version.cfg:3: no value"),
        (KeyError("x"), "looking at cann broke: KeyError: 'x'"),
    ],
)
def test_a_room_that_cant_look_is_a_problem_and_keeps_what_it_had_found(error: Exception, says: str) -> None:
    [whole] = examine({"cann": lambda: [GOOD]})
    assert whole.diagnoses == (GOOD,)
    [group] = examine({"cann": lambda: _breaks(error)})
    assert group.diagnoses[0] == GOOD
    assert group.diagnoses[1].level is Level.PROBLEM
    assert says in group.diagnoses[1].message


def test_a_silent_room_is_a_problem() -> None:
    [group] = examine({"cann": list})
    assert [d.level for d in group.diagnoses] == [Level.PROBLEM]


def test_a_problem_says_what_mends_it() -> None:
    with pytest.raises(ValueError, match="cann: a problem says what mends it"):
        Diagnosis("cann", Level.PROBLEM, "broken")
