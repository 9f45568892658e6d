"""Environment scripts are sourced, not re-invented."""

from pathlib import Path

import pytest

from npu_assay.cann.scripts import sourced
from npu_assay.errors import UnusableError


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "export A=1",
        "export A=1$NEVER_SET",
        "echo chatter; export A=1",
        "export A=1; false",
        'export A="${1-1}"',
        "A=1\nexport A\nreturn 3",
        "f() { local b=1; export A=$b; }; f",
        'export A=$(dirname "$BASE")',
    ],
)
def test_what_a_script_sets_is_read_however_it_is_written(tmp_path: Path, text: str) -> None:
    variables = sourced([script(tmp_path, "set env.sh", text)], {"PATH": "/usr/bin:/bin", "BASE": "1/x"})
    assert variables["A"] == "1"
    assert variables["BASE"] == "1/x"
    assert not {"_", "SHLVL", "PWD"} & variables.keys()


def test_scripts_are_sourced_in_order_and_see_each_other(tmp_path: Path) -> None:
    first = script(tmp_path, "1.sh", "export P=one:$P")
    second = script(tmp_path, "2.sh", "export P=two:$P")
    assert sourced([first, second], {"PATH": "/usr/bin:/bin", "P": "zero"})["P"] == "two:one:zero"


def test_a_value_of_several_lines_stays_whole(tmp_path: Path) -> None:
    path = script(tmp_path, "a.sh", "export A='one\ntwo=2'")
    assert sourced([path], {"PATH": "/usr/bin:/bin"})["A"] == "one\ntwo=2"


def test_nothing_of_ours_leaks_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAK", "1")
    path = script(tmp_path, "a.sh", "export A=${LEAK-none}")
    assert sourced([path], {"PATH": "/usr/bin:/bin"})["A"] == "none"


def test_a_script_that_is_missing_or_ends_the_shell_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"gone\.sh: no such environment script"):
        sourced([tmp_path / "gone.sh"], {"PATH": "/usr/bin:/bin"})
    path = script(tmp_path, "exits.sh", "echo 'no driver here' >&2; exit 3")
    with pytest.raises(UnusableError, match=r"exits\.sh: sourcing ended with 3: no driver here"):
        sourced([path], {"PATH": "/usr/bin:/bin"})
