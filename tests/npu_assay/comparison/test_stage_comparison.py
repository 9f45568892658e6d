"""Stages and tests: what is broken, what is gone, what was only left out."""

import pytest

from npu_assay.comparison.stages import StageChange, StageFacts, compare_stages
from npu_assay.evidence.manifest import StageStatus
from npu_assay.evidence.pytest_junit import Outcome

TESTS = {"test_a": Outcome.PASSED, "test_b": Outcome.PASSED, "test_c": Outcome.XFAILED}


def stage(status: str = "pass", tests: dict[str, Outcome] | None = None, name: str = "unit") -> StageFacts:
    return StageFacts(name=name, status=StageStatus(status), seconds=1.0, tests=tests)


def compare(a, b, *, same_pipeline=True):
    return compare_stages(a, b, same_pipeline=same_pipeline)


@pytest.mark.parametrize(
    ("a", "b", "change", "regression"),
    [
        ("pass", "pass", StageChange.SAME, ""),
        ("fail", "fail", StageChange.SAME, ""),
        ("pass", "fail", StageChange.BROKEN, "stage unit: pass in A, fail in B"),
        ("pass", "inconclusive", StageChange.BROKEN, "stage unit: pass in A, inconclusive in B"),
        ("pass", "skipped", StageChange.BROKEN, "stage unit: pass in A, skipped in B"),
        ("pass", "interrupted", StageChange.BROKEN, "stage unit: pass in A, interrupted in B"),
        ("fail", "pass", StageChange.MENDED, ""),
        ("fail", "inconclusive", StageChange.CHANGED, ""),
        ("pass", "not run", StageChange.LEFT_OUT, ""),
        ("not run", "fail", StageChange.LEFT_OUT, ""),
        ("pass", "not applicable", StageChange.LEFT_OUT, ""),
    ],
)
def test_what_became_of_a_stage(a, b, change, regression):
    (found,) = compare([stage(a)], [stage(b)])
    assert found.change is change
    assert list(found.regressions) == ([regression] if regression else [])
    assert found.compared is (change is not StageChange.LEFT_OUT)


def test_a_stage_that_is_gone_is_a_regression_in_the_same_pipeline_only():
    both = [stage(), stage(name="more")]
    assert [one.change for one in compare(both, both)] == [StageChange.SAME, StageChange.SAME]
    gone = compare(both, both[:1])[1]
    assert gone.change is StageChange.GONE
    assert list(gone.regressions) == ["stage more: pass in A, not there in B"]
    assert compare(both, both[:1], same_pipeline=False)[1].change is StageChange.LEFT_OUT
    assert compare([both[0], stage("not run", name="more")], both[:1])[1].change is StageChange.LEFT_OUT
    assert compare(both[:1], both)[1].change is StageChange.NEW


@pytest.mark.parametrize(
    ("tests", "lost"),
    [
        (TESTS, []),
        (TESTS | {"test_d": Outcome.PASSED}, []),
        (TESTS | {"test_b": Outcome.XFAILED}, []),
        ({"test_a": Outcome.PASSED, "test_c": Outcome.XFAILED}, ["test_b"]),
        (TESTS | {"test_a": Outcome.SKIPPED}, ["test_a"]),
        (TESTS | {"test_c": Outcome.FAILED}, ["test_c"]),
        (None, ["test_a", "test_b", "test_c"]),
    ],
)
def test_tests_that_are_lost(tests, lost):
    (found,) = compare([stage(tests=TESTS)], [stage(tests=tests)])
    assert [test.name for test in found.lost_tests] == lost
    assert found.change is (StageChange.BROKEN if lost else StageChange.SAME)
    assert len(list(found.regressions)) == bool(lost)


def test_a_test_that_did_not_pass_before_is_not_lost_but_a_missing_one_is():
    before = TESTS | {"test_d": Outcome.FAILED}
    (found,) = compare([stage("fail", before)], [stage("fail", before)])
    assert found.lost_tests == ()
    (found,) = compare([stage("fail", before)], [stage("fail", TESTS)])
    (line,) = found.regressions
    assert line == "stage unit: 1 test lost, first test_d: failed in A, not there in B"


def test_new_tests_are_counted():
    (found,) = compare([stage(tests=TESTS)], [stage(tests=TESTS | {"test_d": Outcome.PASSED})])
    assert (found.tests_a, found.tests_b, found.new_tests) == (3, 4, 1)
