"""Random numbers: the same seed gives the same ones, the next call others, and their moments are right."""

import pytest
import torch

N = 20_000


def probabilities() -> torch.Tensor:
    return torch.tensor([0.1, 0.2, 0.3, 0.4], device="npu")


DRAWS = {
    "rand": lambda: torch.rand(N, device="npu"),
    "randn": lambda: torch.randn(N, device="npu"),
    "randint": lambda: torch.randint(0, 10, (N,), device="npu"),
    "randperm": lambda: torch.randperm(N, device="npu"),
    "uniform_": lambda: torch.empty(N, device="npu").uniform_(2, 3),
    "normal_": lambda: torch.empty(N, device="npu").normal_(2, 3),
    "normal": lambda: torch.normal(torch.zeros(N, device="npu"), torch.ones(N, device="npu")),
    "exponential_": lambda: torch.empty(N, device="npu").exponential_(),
    "bernoulli_": lambda: torch.empty(N, device="npu").bernoulli_(0.3),
    "bernoulli": lambda: torch.bernoulli(torch.full((N,), 0.3, device="npu")),
    "multinomial": lambda: torch.multinomial(probabilities(), N, replacement=True),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_draws_follow_the_seed(draw: str):
    torch.npu.manual_seed(7)
    first, second = DRAWS[draw]().cpu(), DRAWS[draw]().cpu()
    torch.npu.manual_seed(7)
    again = DRAWS[draw]().cpu()
    torch.npu.manual_seed(8)
    other = DRAWS[draw]().cpu()
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        ("rand", 0.5, 0.2887),
        ("randn", 0, 1),
        ("randint", 4.5, 2.872),
        ("uniform_", 2.5, 0.2887),
        ("normal_", 2, 3),
        ("normal", 0, 1),
        ("exponential_", 1, 1),
        ("bernoulli_", 0.3, 0.458),
        ("bernoulli", 0.3, 0.458),
        ("multinomial", 2, 1),
    ],
)
def test_draws_have_their_distribution(draw: str, mean: float, deviation: float):
    numbers = DRAWS[draw]().cpu().double()
    assert numbers.mean().item() == pytest.approx(mean, abs=0.05 * deviation)
    assert numbers.std().item() == pytest.approx(deviation, rel=0.05)


def test_a_permutation_has_each_number_once():
    assert DRAWS["randperm"]().sort().values.tolist() == list(range(N))


def test_a_generator_has_a_state():
    generator = torch.Generator(device="npu")
    generator.manual_seed(3)
    state = generator.get_state()
    first = torch.rand(10, device="npu", generator=generator).cpu()
    generator.set_state(state)
    assert torch.equal(torch.rand(10, device="npu", generator=generator).cpu(), first)


def test_samplers_exponential_race_picks_by_probability():
    """What vllm-ascend's sampler does: argmax of probabilities over exponential noise."""
    torch.npu.manual_seed(1)
    weights = probabilities().expand(N, 4)
    picked = weights.div(torch.empty_like(weights).exponential_()).argmax(dim=-1)
    shares = torch.bincount(picked.cpu(), minlength=4) / N
    assert shares.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.02)
