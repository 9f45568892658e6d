"""Is a difference between two series of runs more than their noise? Pure arithmetic.

A difference counts only when both of these hold:

- the runs can be told apart: the two-sided Mann-Whitney U test gives at most 5 %. With so few runs that the
  test can't get there (3 a side: 10 %), every run of one side has to be better than every run of the other;
- the medians are further apart than the larger robust spread of the two sides.

The first is what Go's benchstat and asv do; the second keeps many runs from making a difference of nothing
count. Neither knows which side came first, so that what is worse from A to B is better from B to A.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import comb, erfc, sqrt
from statistics import median

from npu_assay.strict import Strict

#: With fewer runs a side there is no spread to speak of.
FEWEST_RUNS = 3
#: One in so many: the 5 % of the test.
_ONE_IN = 20
#: Of so many runs of both sides together the test is exact, beyond it is the normal approximation.
_MOST_EXACT = 20
#: Makes the median absolute deviation of normally distributed values their standard deviation.
_NORMAL = 1.4826


class Judgement(StrEnum):
    """Of B's runs against A's."""

    BETTER = "better"
    WORSE = "worse"
    WITHIN_NOISE = "within noise"
    EQUAL = "equal"
    """All runs of both sides have the same value."""
    TOO_FEW_RUNS = "too few runs"


class Spread(Strict):
    """The runs of a side, at least one."""

    runs: int
    median: float
    least: float
    most: float
    robust: float
    """The median absolute deviation times 1.4826: one run that went astray does not move it."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of at least one value."""
        middle = median(values)
        return cls(
            runs=len(values),
            median=middle,
            least=min(values),
            most=max(values),
            robust=_NORMAL * median(abs(value - middle) for value in values),
        )


def judge(a: Sequence[float], b: Sequence[float], *, higher_is_better: bool) -> Judgement:
    """What B's runs are against A's; both have at least one."""
    if min(len(a), len(b)) < FEWEST_RUNS:
        return Judgement.TOO_FEW_RUNS
    if len({*a, *b}) == 1:
        return Judgement.EQUAL
    before, after = Spread.of(a), Spread.of(b)
    apart = abs(after.median - before.median)
    if apart <= max(before.robust, after.robust) or not told_apart(a, b):
        return Judgement.WITHIN_NOISE
    return Judgement.BETTER if (after.median > before.median) is higher_is_better else Judgement.WORSE


def told_apart(a: Sequence[float], b: Sequence[float]) -> bool:
    """The Mann-Whitney U test, two-sided, with equal values sharing their rank."""
    ranks = _doubled_ranks([*a, *b])
    total = len(ranks)
    expected = len(a) * (total + 1)  # of the sum of a's doubled ranks, were the sides alike
    deviation = abs(sum(ranks[: len(a)]) - expected)
    if total > _MOST_EXACT:
        # The variance of a sum of len(a) ranks that are drawn without replacement; ties make it smaller.
        spread = sum((rank - (total + 1)) ** 2 for rank in ranks) / (total - 1)
        variance = len(a) * len(b) / total * spread
        return variance > 0 and erfc(deviation / sqrt(2 * variance)) * _ONE_IN <= 1
    extreme = sum(
        count
        for rank_sum, count in _rank_sums(ranks, len(a)).items()
        if abs(rank_sum - expected) >= deviation
    )
    return extreme * _ONE_IN <= comb(total, len(a)) or extreme <= 2


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice each value's rank, counted from 1; equal values have the middle of their ranks, hence twice."""
    ordered = sorted(values)
    first: dict[float, int] = {}
    for place, value in enumerate(ordered, start=1):
        first.setdefault(value, place)
    counts = Counter(values)
    return [2 * first[value] + counts[value] - 1 for value in values]


def _rank_sums(ranks: Sequence[int], chosen: int) -> Counter[int]:
    """Sum -> in how many ways that many of the ranks have it."""
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(chosen))]
    for rank in ranks:
        for number in range(chosen, 0, -1):
            for rank_sum, count in ways[number - 1].items():
                ways[number][rank_sum + rank] += count
    return ways[chosen]
