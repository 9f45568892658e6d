"""Runs of a benchmark: read strictly, compared case by case, and refused where they are not alike."""

import json

import pytest

from npu_assay.comparison.noise import Judgement
from npu_assay.comparison.performance import FILE, compare_performance, read_runs
from npu_assay.errors import UsageError

GIB = 1 << 30


def row(round_: int, **changes: object) -> dict[str, object]:
    return {
        "case": "baseline",
        "offload_group_size": 0,
        "offload_num_in_group": 1,
        "load": 0,
        "round": round_,
        "prompts": 8,
        "input_tokens": 128,
        "output_tokens": 64,
        "seconds": 0.7 + round_ / 1000,
        "output_tokens_per_second": 740.0 + round_,
        "kv_cache_bytes": 27 * GIB,
        "weight_bytes_saved": 0,
        "host_rss_bytes": None,
        "device_used_bytes": None,
    } | changes


def read(tmp_path, rows):
    path = tmp_path / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read_runs(path, "run")


def compare(tmp_path, a, b, *, refused=(), tolerance=5.0):
    return compare_performance(
        read(tmp_path, a), read(tmp_path, b), refused=refused, attribution="only x", tolerance=tolerance
    )


def slower(factor: float, rounds=(1, 2, 3), **changes: object) -> list[dict[str, object]]:
    return [
        row(
            number,
            seconds=(0.7 + number / 1000) * factor,
            output_tokens_per_second=(740.0 + number) / factor,
            **changes,
        )
        for number in rounds
    ]


def judgements(found):
    return {metric.metric: metric.judgement for case in found.cases for metric in case.metrics}


GOOD = [row(number) for number in (1, 2, 3)]


def test_a_slower_case_is_a_regression_and_the_same_one_is_none(tmp_path):
    same = compare(tmp_path, GOOD, GOOD)
    assert list(same.regressions) == []
    assert same.compared
    assert judgements(same)["seconds"] is Judgement.WITHIN_NOISE
    assert judgements(same)["kv_cache_bytes"] is Judgement.EQUAL
    found = compare(tmp_path, GOOD, slower(1.1))
    assert judgements(found)["output_tokens_per_second"] is Judgement.WORSE
    assert list(found.regressions) == [
        "performance of baseline (0, 1): output_tokens_per_second is worse, -9.09 %",
        "performance of baseline (0, 1): seconds is worse, +10.00 %",
    ]
    back = compare(tmp_path, slower(1.1), GOOD)
    assert judgements(back)["seconds"] is Judgement.BETTER
    assert list(back.regressions) == []


def test_what_is_worse_within_the_tolerance_is_no_regression(tmp_path):
    found = compare(tmp_path, GOOD, slower(1.04))
    assert judgements(found)["seconds"] is Judgement.WORSE
    assert list(found.regressions) == []
    assert len(list(compare(tmp_path, GOOD, slower(1.04), tolerance=3.0).regressions)) == 2


def test_noise_is_no_regression_however_large(tmp_path):
    noisy = [row(1, seconds=0.5), row(2, seconds=2.0), row(3, seconds=3.0)]
    found = compare(tmp_path, GOOD, noisy)
    assert judgements(found)["seconds"] is Judgement.WITHIN_NOISE
    assert list(found.regressions) == []


def test_fewer_than_three_runs_say_nothing(tmp_path):
    assert compare(tmp_path, GOOD, GOOD).compared
    found = compare(tmp_path, GOOD, slower(2.0, rounds=(1, 2)))
    assert set(judgements(found).values()) == {Judgement.TOO_FEW_RUNS}
    assert not found.compared
    assert list(found.regressions) == []


def test_rounds_that_warm_up_do_not_count(tmp_path):
    """Round 0 is one, unless the row says what it is."""
    assert [run.round for run in read(tmp_path, [row(0, seconds=9.0), *GOOD])] == [1, 2, 3]
    assert [run.round for run in read(tmp_path, [row(0, warm_up=False), *GOOD])] == [0, 1, 2, 3]
    assert [run.round for run in read(tmp_path, [row(0, warm_up=None), *GOOD])] == [1, 2, 3]
    assert [run.round for run in read(tmp_path, [row(1, warm_up=True), *GOOD[1:]])] == [2, 3]


def test_rounds_of_one_load_are_one_run_where_there_are_several_loads(tmp_path):
    loads = [one for load in range(3) for one in slower(1.0 + load / 1000, load=load)]
    (case,) = compare(tmp_path, loads, loads).cases
    assert case.sample == "load"
    assert {metric.a.runs for metric in case.metrics} == {3}
    # Nine rounds of one load would be told apart from nine of three loads; one load is one run.
    (case,) = compare(tmp_path, loads, slower(1.2, rounds=range(1, 10))).cases
    assert {metric.judgement for metric in case.metrics} == {Judgement.TOO_FEW_RUNS}


def test_other_cann_is_refused_and_nothing_is_shown(tmp_path):
    assert compare(tmp_path, GOOD, slower(2.0)).cases
    found = compare(tmp_path, GOOD, slower(2.0), refused=("cann build: B250 in A, B260 in B",))
    assert found.refused == ("cann build: B250 in A, B260 in B",)
    assert not found.cases
    assert not found.compared
    assert list(found.regressions) == []


def test_nothing_is_refused_where_nothing_was_measured(tmp_path):
    assert compare(tmp_path, GOOD, [], refused=("why",)).refused == ("why",)
    assert compare(tmp_path, [], [], refused=("why",)).refused == ()


def test_another_workload_is_refused(tmp_path):
    (case,) = compare(tmp_path, GOOD, slower(2.0)).cases
    assert case.refused == ""
    found = compare(tmp_path, GOOD, slower(2.0, output_tokens=128))
    assert "8 prompts, 128 input, 128 output tokens against 8 prompts" in found.cases[0].refused
    assert not found.compared


def test_a_case_that_is_gone_is_a_regression(tmp_path):
    other = slower(1.0, case="group_8_num_1")
    both = compare(tmp_path, [*GOOD, *other], [*GOOD, *other])
    assert (both.only_in_a, list(both.regressions)) == ((), [])
    found = compare(tmp_path, [*GOOD, *other], GOOD)
    assert list(found.regressions) == ["performance of group_8_num_1 (0, 1): measured in A, not in B"]
    assert list(compare(tmp_path, GOOD, [*GOOD, *other]).regressions) == []
    # A benchmark that B did not run at all is its stage's affair.
    assert list(compare(tmp_path, GOOD, []).regressions) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seconds": 0}, "seconds: Input should be greater than 0"),
        ({"seconds": float("nan")}, "NaN is no JSON number"),
        ({"output_tokens_per_second": -1.0}, "output_tokens_per_second: Input should be greater than 0"),
        ({"output_tokens_per_second": None}, "output_tokens_per_second: Input should be a valid number"),
        ({"kv_cache_bytes": 0}, "kv_cache_bytes: Input should be greater than 0"),
        ({"kv_cache_bytes": 1.5}, "kv_cache_bytes: Input should be a valid integer"),
        ({"case": ""}, "case: String should have at least 1 character"),
        ({"failed": 3}, "a run that failed (3)"),
        ({"error": "out of memory"}, "a run that failed (out of memory)"),
        ({"warm_up": "no"}, "warm_up is 'no', expected true or false"),
        ({"seconds": 1e999}, "Infinity is no JSON number"),
        ({"round": 1}, "baseline (0, 1), load 0, round 1 stands here twice"),
    ],
)
def test_a_row_that_measured_nothing_is_an_error(tmp_path, changes, problem):
    assert len(read(tmp_path, [row(1), row(2, failed=0, error=None)])) == 2
    with pytest.raises(UsageError, match=r"performance-runs\.jsonl:2: ") as raised:
        read(tmp_path, [row(1), row(2) | changes])
    assert problem in str(raised.value)
