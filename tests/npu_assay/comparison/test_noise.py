"""When a difference is more than the noise of both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_assay.comparison.noise import Judgement, Spread, judge, told_apart

OPPOSITE = {Judgement.BETTER: Judgement.WORSE, Judgement.WORSE: Judgement.BETTER}
RUNS = st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=8)
#: Few values, so that ties are common; many runs, so that the approximation is used, too.
TIED_RUNS = st.lists(st.integers(min_value=1, max_value=4).map(float), min_size=1, max_size=14)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([100.0, 101, 102], [90.0, 91, 92], Judgement.WORSE),
        ([90.0, 91, 92], [100.0, 101, 102], Judgement.BETTER),
        ([100.0, 101, 102], [90.0, 91, 100.5], Judgement.WITHIN_NOISE),  # one run of B is as good as A's
        ([100.0, 101, 102], [101.0, 102, 100], Judgement.WITHIN_NOISE),
        ([100.0, 110, 120], [99.0, 98, 97], Judgement.WITHIN_NOISE),  # apart, but by less than A's own spread
        ([5.0, 5, 5], [5.0, 5, 5], Judgement.EQUAL),
        ([5.0, 5, 5], [4.0, 4, 4], Judgement.WORSE),
        ([100.0, 101], [50.0, 51, 52], Judgement.TOO_FEW_RUNS),
        ([100.0, 101, 102], [50.0], Judgement.TOO_FEW_RUNS),
        # With many runs one that went astray hides nothing.
        ([100.0, 101, 102, 103, 104, 105], [90.0, 91, 92, 93, 94, 103.5], Judgement.WORSE),
        ([100.0 + n for n in range(12)], [80.0 + n for n in range(12)], Judgement.WORSE),
        ([100.0 + n for n in range(12)], [100.5 + n for n in range(12)], Judgement.WITHIN_NOISE),
    ],
)
def test_the_judgement(a, b, expected):
    assert judge(a, b, higher_is_better=True) is expected


def test_lower_may_be_better():
    assert judge([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], higher_is_better=False) is Judgement.WORSE
    assert judge([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], higher_is_better=True) is Judgement.BETTER


@pytest.mark.parametrize("runs", [RUNS, TIED_RUNS], ids=["any", "tied"])
def test_worse_from_a_to_b_is_better_from_b_to_a(runs):
    @given(runs, runs, st.booleans())
    def holds(a, b, higher):
        there = judge(a, b, higher_is_better=higher)
        assert judge(b, a, higher_is_better=higher) is OPPOSITE.get(there, there)
        assert judge(a, b, higher_is_better=not higher) is OPPOSITE.get(there, there)

    holds()


@given(st.one_of(RUNS, TIED_RUNS))
def test_nothing_is_better_or_worse_than_itself(runs):
    assert judge(runs, list(reversed(runs)), higher_is_better=True) not in OPPOSITE


@given(RUNS, RUNS, st.randoms())
def test_the_order_of_runs_does_not_matter(a, b, random):
    before = judge(a, b, higher_is_better=True)
    random.shuffle(a)
    assert judge(a, b, higher_is_better=True) is before


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        # scipy's mannwhitneyu: p = 0.02857 (the least that 4 against 4 can give) and 0.05714.
        ([1, 2, 3, 4], [5, 6, 7, 8], True),
        ([1, 2, 3, 5], [4, 6, 7, 8], False),
        # 3 against 3 gives 0.1 at best: only runs that are all better count.
        ([1, 2, 3], [4, 5, 6], True),
        ([1, 2, 4], [3, 5, 6], False),
        # Ties across the sides.
        ([1, 2, 3], [3, 4, 5], False),
        ([1, 1, 1, 1, 1], [1, 1, 1, 1, 2], False),
    ],
)
def test_the_rank_test(a, b, apart):
    assert told_apart(a, b) is apart
    assert told_apart(b, a) is apart


@pytest.mark.parametrize("each", [10, 11])
def test_the_approximation_goes_on_where_the_exact_test_ends(each):
    """10 against 10 is the last exact one. The number of B's runs that may be as bad as A's, by scipy."""
    said = []
    for bad in range(each):
        a = [float(run) for run in range(each)]
        b = [run + 0.5 for run in range(bad)] + [100.0 + run for run in range(each - bad)]
        said.append(told_apart(a, b))
    assert said == sorted(said, reverse=True)
    assert said.count(True) == {10: 3, 11: 4}[each]


def test_the_spread_and_its_robust_measure():
    spread = Spread.of([10.0, 11, 12, 13, 1000])
    assert (spread.runs, spread.median, spread.least, spread.most) == (5, 12, 10, 1000)
    assert spread.robust == pytest.approx(1.4826)
    assert Spread.of([7.0]).robust == 0
