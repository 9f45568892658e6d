"""Throughput held against latency. Cross-checks: each is a figure of its own, so they agree only nearly."""

from collections.abc import Iterator

from npu_assay.claims.publications.arithmetic import requests_per_second
from npu_assay.claims.publications.checks.check import Case, Check
from npu_assay.claims.publications.derivations import Concurrency, Rate
from npu_assay.claims.publications.values import Value


class RateCheck(Check[Rate]):
    """The tokens of a round by its time.

    Near the published median only: the run with the median rate need not be the one with the median time.
    """

    def recompute(self, derivation: Rate, case: Case) -> Value:
        tokens = case.number(derivation.tokens) * case.number(derivation.prompts)
        return tokens / case.number_in(derivation.latency, "s")

    def compared(self, derivation: Rate, case: Case) -> Iterator[str]:
        yield case.find(derivation.latency).entry


class ConcurrencyCheck(Check[Concurrency]):
    """Requests under way by the time that one takes."""

    def recompute(self, derivation: Concurrency, case: Case) -> Value:
        return requests_per_second(
            case.number(derivation.requests),
            case.number(derivation.tokens),
            case.number_in(derivation.first_token, "s"),
            case.number_in(derivation.each_token, "s"),
        )

    def compared(self, derivation: Concurrency, case: Case) -> Iterator[str]:
        yield from (case.find(name).entry for name in (derivation.first_token, derivation.each_token))
