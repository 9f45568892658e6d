"""Environment scripts are sourced, not re-invented."""

from pathlib import Path

import pytest
from processes import ends

from npu_assay.cann.scripts import source, sourced
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


def test_a_script_gets_its_own_argument_and_no_other_s(tmp_path: Path) -> None:
    first = script(tmp_path, "1.sh", 'export ONE="$#$1"')
    second = script(tmp_path, "2.sh", 'export TWO="$#$1"')
    variables = sourced([first, second], {"PATH": "/usr/bin:/bin"}, {second: "--cxx_abi=1"})
    assert (variables["ONE"], variables["TWO"]) == ("0", "1--cxx_abi=1")


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


BASE = {"PATH": "/usr/bin:/bin"}


def unset_in(scripts: list[Path], base: dict[str, str] = BASE) -> list[str]:
    """What the scripts read under `set -u` although it is not set."""
    return [f"{read.script.name}:{read.line} {read.variable}" for read in source(scripts, base).unset]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("export A=1", []),
        ("export A=1${NEVER_SET-}", []),
        ("export A=1$NEVER_SET", ["s.sh:1 NEVER_SET"]),
        ("\nif [ -z $ZSH_VERSION ]; then export A=1; fi", ["s.sh:2 ZSH_VERSION"]),
        # As ATB's looks for its options.
        ('until [[ -z "$1" ]]; do shift; done; export A=1', ["s.sh:1 $1"]),
        # As CANN's reads a list: a subshell fails, and the script goes on.
        ('export A=1$(eval echo "\\${NEVER_SET}")', ["s.sh:1 NEVER_SET"]),
        ("export A=1 B=$NEVER_SET\nexport C=$NOR_THIS", ["s.sh:1 NEVER_SET"]),
        # One that brings its own rules.
        ("set +u; export A=1$NEVER_SET", []),
    ],
)
def test_unset_variables_are_named_and_the_script_is_sourced_all_the_same(
    tmp_path: Path, text: str, reads: list[str]
) -> None:
    path = script(tmp_path, "s.sh", text)
    assert unset_in([path]) == reads
    assert sourced([path], BASE)["A"] == "1"


def test_each_script_has_rules_of_its_own(tmp_path: Path) -> None:
    strict = script(tmp_path, "strict.sh", "export U=${-//[^u]/}")
    lax = script(tmp_path, "lax.sh", "export L=${-//[^u]/}$NEVER_SET")
    last = script(tmp_path, "last.sh", "export S=$U ${-//[^u]/}$UNKNOWN")
    sourcing = source([strict, lax, last, strict], BASE)
    assert (sourcing.variables["U"], sourcing.variables["L"]) == ("u", "")
    assert [read.script for read in sourcing.unset] == [lax, last]
    assert str(sourcing.unset[0]) == f"{lax}:1 reads NEVER_SET, which is not set"


def test_what_is_set_is_not_named(tmp_path: Path) -> None:
    path = script(tmp_path, "s.sh", "export A=$GIVEN")
    assert unset_in([path]) == ["s.sh:1 GIVEN"]
    assert unset_in([path], BASE | {"GIVEN": "1"}) == []


def test_a_message_about_a_variable_of_another_program_is_not_ours(tmp_path: Path) -> None:
    path = script(tmp_path, "s.sh", "echo 'other.sh: line 3: X: unbound variable' >&2; export A=1")
    assert unset_in([path]) == []


def test_a_script_that_does_not_end_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    assert source([script(tmp_path, "s.sh", "sleep 0")], BASE, timeout=60).unset == ()
    path = script(tmp_path, "s.sh", f"sleep 1000 & echo $! >{tmp_path}/child; wait")
    with pytest.raises(UnusableError, match=r"s\.sh: sourcing did not end within 0\.5 s"):
        source([path], BASE, timeout=0.5)
    child = int((tmp_path / "child").read_text())
    assert ends(child), f"{child} still runs"
