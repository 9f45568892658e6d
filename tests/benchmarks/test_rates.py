"""The arithmetic of the benchmark: prompts, rates, ratios, equal answers."""

import pytest
from rates import Rates, Round, Spread, Workload, compare, require_equal_answers

from npu_assay.errors import AssayError

WORKLOAD = Workload(requests=16, prompt_tokens=128, new_tokens=64)


def test_prompts_are_the_same_for_the_same_seed_and_round_only() -> None:
    prompts = WORKLOAD.prompts(seed=0, round_=1)
    assert [len(prompt) for prompt in prompts] == [128] * 16
    assert len({tuple(prompt[:16]) for prompt in prompts}) == 16, "no two begin alike"
    assert all(token in WORKLOAD.token_ids for prompt in prompts for token in prompt)
    assert WORKLOAD.prompts(seed=0, round_=1) == prompts
    for other in (WORKLOAD.prompts(seed=1, round_=1), WORKLOAD.prompts(seed=0, round_=-1)):
        assert not {tuple(prompt[:16]) for prompt in prompts} & {tuple(prompt[:16]) for prompt in other}


def test_rates_of_a_round() -> None:
    rates = Rates.of(Round(first_seconds=0.5, all_seconds=2.5, answers=[]), WORKLOAD)
    assert rates == Rates(prefill=16 * 128 / 0.5, decode=16 * 63 / 2.0, whole=16 * 64 / 2.5)
    assert str(rates) == "decode 504, prefill 4,096, new tokens over all 410 tokens/s"


@pytest.mark.parametrize("all_seconds", [0.5, 0.4])
def test_more_tokens_in_no_more_time_are_no_measurement(all_seconds: float) -> None:
    with pytest.raises(AssayError, match="too busy to measure"):
        Rates.of(Round(first_seconds=0.5, all_seconds=all_seconds, answers=[]), WORKLOAD)


def rates(decode: float) -> Rates:
    return Rates(prefill=1, decode=decode, whole=1)


def test_the_ratio_is_the_median_of_each_rounds_own_ratio() -> None:
    """The second round was slow for both: the ratio of the medians, 200/900, would be another."""
    found = compare([rates(100), rates(40), rates(200)], [rates(1000), rates(80), rates(900)], "decode")
    assert found.ratio == Spread(median=200 / 900, least=0.1, most=0.5)
    assert found.emulated == Spread(median=100, least=40, most=200)
    assert found.cpu == Spread(median=900, least=80, most=1000)


def test_rounds_that_are_not_the_same_ones_are_not_compared() -> None:
    assert compare([rates(1)], [rates(2)], "decode").ratio.median == 0.5
    with pytest.raises(ValueError, match="zip"):
        compare([rates(1)], [rates(1), rates(2)], "decode")


def test_answers_must_be_equal_token_by_token() -> None:
    require_equal_answers("emulated, round 3", [[1, 2], [3, 4]], [[1, 2], [3, 4]])
    expected = "emulated, round 3: token 1 of request 1 is 4, the CPU engine's is 5"
    with pytest.raises(AssayError, match=expected) as raised:
        require_equal_answers("emulated, round 3", [[1, 2], [3, 4]], [[1, 2], [3, 5]])
    assert raised.value.exit_code == 1


@pytest.mark.parametrize("answers", [[[1, 2]], [[1, 2], [3]]], ids=["a request less", "a token less"])
def test_answers_must_be_as_many(answers: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="zip"):
        require_equal_answers("emulated", answers, [[1, 2], [3, 4]])
