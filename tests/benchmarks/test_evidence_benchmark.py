"""What benchmarks/evidence.py measures is done, and a ratio that is too large is said."""

import json
import subprocess
import sys
from pathlib import Path

import checking
import evidence
import pytest
from click.testing import CliRunner
from contest import Contest, hold, table

from npu_assay.errors import AssayError


def figures(*values: float):
    """An attempt that took so much, one after the other."""
    left = iter(values)
    return lambda: next(left)


def test_the_ratio_is_that_of_neighbours_and_its_median_decides() -> None:
    score = hold(Contest("x", figures(1, 4, 9), figures(1, 2, 10), most=1.0), 3)
    assert (score.ratio.median, score.ratio.least, score.ratio.most) == (1.0, 0.9, 2.0)
    assert score.passed
    assert str(score) == "x: 1.00 (0.90 to 2.00), at most 1.00"
    score = hold(Contest("x", figures(1.1, 4, 9), figures(1, 2, 10), most=1.0), 3)
    assert not score.passed
    assert str(score).endswith("TOO MUCH")
    assert hold(Contest("x", figures(9), figures(1)), 1).passed


def test_both_take_turns_at_being_first() -> None:
    order: list[str] = []

    def attempt(name: str):
        return lambda: order.append(name) or 1.0

    hold(Contest("x", attempt("ours"), attempt("theirs")), 3)
    assert order == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]


def test_the_table_is_in_the_unit_of_the_contest() -> None:
    memory = Contest("memory", figures(3 << 20), figures(2 << 20), most=1.1, unit="MiB", scale=1 << 20)
    assert table([hold(memory, 1)]).splitlines()[-1] == (
        "| memory | 3.00 MiB (3.00 to 3.00) | 2.00 MiB (2.00 to 2.00) | **1.50** (1.50 to 1.50) | 1.10 |"
    )


@pytest.mark.parametrize("way", ["check", "loop"])
def test_both_ways_of_checking_check(way: str, tmp_path: Path) -> None:
    checking.plant(tmp_path / "archive", 10_000)
    assert len(list((tmp_path / "archive").rglob("*.json"))) == 2000
    command = [sys.executable, checking.WORKER, way, tmp_path / "archive"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout).keys() == {"seconds", "peak_bytes"}
    with (tmp_path / "archive" / "big-3.log").open("r+b") as file:
        file.seek(5_000)
        file.write(b"another byte")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the archive was to be good" in done.stderr


#: What is done is checked here, not how long it takes.
GENEROUS = 1000.0


def small(*words: str) -> list[str]:
    return [*words, "--repetitions", "1", "--big", "10", "--output", "1", "--stage", "0.1"]


@pytest.mark.parametrize(("part", "rows"), [("checking", 3), ("storing", 2), ("stages", 1)])
def test_every_part_is_measured_and_passing_a_limit_is_exit_1(
    part: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = evidence.contests

    def with_limit(most: float) -> None:
        def limited(*options):
            return [Contest(one.name, one.ours, one.theirs, most) for one in real(*options)]

        monkeypatch.setattr(evidence, "contests", limited)

    with_limit(GENEROUS)
    ended = CliRunner().invoke(evidence.main, small("--only", part))
    assert ended.exit_code == 0, ended.output
    assert ended.stdout.count("**") == 2 * rows
    with_limit(1 / GENEROUS)
    ended = CliRunner().invoke(evidence.main, small("--only", part))
    assert ended.exit_code == 1
    assert ended.stderr.count("TOO MUCH") == rows


def test_a_command_that_fails_measures_nothing(tmp_path: Path) -> None:
    checking.plant(tmp_path / "archive", 10_000)
    contest = checking.verify_contest(tmp_path / "archive")
    assert contest.theirs() > 0
    (tmp_path / "archive" / "big-0.log").unlink()
    with pytest.raises(AssayError, match=r"check_worker.py loop .*FileNotFoundError"):
        contest.theirs()
