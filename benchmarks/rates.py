"""What is measured and the arithmetic on it: pure, without engines or clocks."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from npu_assay.errors import AssayError

#: Token ids of a prompt, or of an answer.
Tokens = list[int]


@dataclass(frozen=True)
class Workload:
    """The requests of a measurement, all at once."""

    requests: int = 16
    prompt_tokens: int = 128
    new_tokens: int = 64
    #: Prompts are drawn from token ids that the tiny model's tokenizer has; 0 ends a text.
    token_ids: range = range(1, 1900)

    def prompts(self, seed: int, round_: int) -> list[Tokens]:
        """The prompts of a round: the same for the same seed and round, others in every other round."""
        random_ = random.Random(f"{seed}/{round_}")
        return [random_.choices(self.token_ids, k=self.prompt_tokens) for _ in range(self.requests)]


@dataclass(frozen=True)
class Round:
    """One engine's round: all requests answered with one token each, and again with all tokens."""

    first_seconds: float
    all_seconds: float
    #: The answers with all tokens, a list a request.
    answers: list[Tokens]


@dataclass(frozen=True)
class Rates:
    """Tokens a second over all requests."""

    #: Tokens of prompts until every request has its first new token.
    prefill: float
    #: New tokens behind the first, in the time that they take longer.
    decode: float
    #: All new tokens over the whole time.
    whole: float

    @classmethod
    def of(cls, round_: Round, workload: Workload) -> "Rates":
        """The rates of a round. Raises AssayError when more tokens took no longer: that measures nothing."""
        longer = round_.all_seconds - round_.first_seconds
        if longer <= 0:
            raise AssayError(
                f"{workload.new_tokens} tokens took {round_.all_seconds:.3f} s, one took "
                f"{round_.first_seconds:.3f} s: the machine is too busy to measure; run it again"
            )
        return cls(
            prefill=workload.requests * workload.prompt_tokens / round_.first_seconds,
            decode=workload.requests * (workload.new_tokens - 1) / longer,
            whole=workload.requests * workload.new_tokens / round_.all_seconds,
        )

    def __str__(self) -> str:
        return ", ".join(f"{name} {rate(self):,.0f}" for name, rate in RATES.items()) + " tokens/s"


#: Names of the rates, in the order of the table.
RATES: Mapping[str, Callable[[Rates], float]] = {
    "decode": lambda rates: rates.decode,
    "prefill": lambda rates: rates.prefill,
    "new tokens over all": lambda rates: rates.whole,
}


@dataclass(frozen=True)
class Spread:
    """A median with its extremes."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of at least one value."""
        return cls(median=median(values), least=min(values), most=max(values))


@dataclass(frozen=True)
class Comparison:
    """One rate of both engines over all rounds."""

    emulated: Spread
    cpu: Spread
    #: emulated / CPU, of each round's own two rates: what slows the machine for a while slows both.
    ratio: Spread


def compare(emulated: Sequence[Rates], cpu: Sequence[Rates], rate: str) -> Comparison:
    """Compare one of `RATES`; the two sequences are the same rounds in the same order."""
    pairs = [(RATES[rate](ours), RATES[rate](theirs)) for ours, theirs in zip(emulated, cpu, strict=True)]
    return Comparison(
        emulated=Spread.of([ours for ours, _ in pairs]),
        cpu=Spread.of([theirs for _, theirs in pairs]),
        ratio=Spread.of([ours / theirs for ours, theirs in pairs]),
    )


def require_equal_answers(whose: str, answers: Sequence[Tokens], cpu: Sequence[Tokens]) -> None:
    """Raise AssayError, naming the first token that differs, unless an engine answered as the CPU engine."""
    for request, (ours, theirs) in enumerate(zip(answers, cpu, strict=True)):
        for token, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            if our != their:
                raise AssayError(
                    f"{whose}: token {token} of request {request} is {our}, the CPU engine's is {their}; "
                    f"rates of different answers can't be compared"
                )
