"""How large vLLM says that its KV cache is, in blocks or in tokens.

Forms, with the versions that print them and the file where they stand:

- `# GPU blocks: 1478, # CPU blocks: 2048`, with `cuda`, `npu` or `HPU` for GPU: V0 engine, executor_base.py
- `# GPU blocks: 127626`, then `Maximum concurrency for 2048 tokens per request: 997.08x`: V1 engine before
  vllm#13596 (2025-02), v1/core/kv_cache_utils.py
- `GPU KV cache size: 2,042,016 tokens`, then `Maximum concurrency for 2,048 tokens per request: 997.08x`:
  from then to 0.22.1 (read: 0.18.0 and 0.22.1), v1/core/kv_cache_utils.py, _report_kv_cache_config
- `GPU KV cache size: 1,553,140 tokens, Maximum concurrency for 1,000,000 tokens per request: 1.55x`: after
  vllm#50462 (2026-07), v1/core/kv_cache_utils.py, update_kv_cache_capacity

One boot may print several, with different values (dynamo#3643): one an engine, or one a worker. Lines that
Ray has folded (`[repeated 3x across cluster]`) hide the values of other workers, so they are an error.

The number of tokens is no capacity where a model is hybrid. Up to 0.19 it is blocks / groups x the smallest
block, which is wrong if blocks differ (vllm#40691); in 0.22 it is concurrency x length (vllm#54662). The
concurrency is right in both; `KvCacheLines.doubts` names the sizes that do not go with it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from npu_assay.evidence.vllm_logs.numbers import COUNT, NUMBER, count, number
from npu_assay.evidence.vllm_logs.pieces import Piece, Process, UnknownLineError, pieces

_EXPECTED = (
    "'# GPU blocks: N', 'GPU KV cache size: N tokens' or "
    "'Maximum concurrency for N tokens per request: N.NNx'"
)
#: The subject has one of these.
_WORDS = (b"KV cache size", b"Maximum concurrency", b" blocks")
#: `Multiplying the GPU KV cache size by the cp_world_size ...` (0.18.0) comes before the line itself.
_SUBJECT = re.compile(
    r"(?<!Multiplying the )GPU KV cache size|Maximum concurrency for|# [A-Za-z]{2,12} blocks(?<!# CPU blocks)"
)
_TOKENS = re.compile(rf"GPU KV cache size: ({COUNT}) tokens(?=\s*$|, Maximum concurrency for )")
_CONCURRENCY = re.compile(rf"Maximum concurrency for ({COUNT}) tokens per request: ({NUMBER})x\s*$")
_BLOCKS = re.compile(rf"# [A-Za-z]{{2,12}} blocks: ({COUNT})(?:, # CPU blocks: ({COUNT}))?\s*$")

#: Tokens of the largest KV block of a model that is not hybrid. A request takes whole blocks, so up to that
#: much more for each may fit than the concurrency says.
_LARGEST_BLOCK = 256


class Unit(StrEnum):
    BLOCKS = "blocks"
    TOKENS = "tokens"


@dataclass(frozen=True)
class KvCacheSize:
    """One line that says how large the KV cache is."""

    line: int
    process: Process | None
    count: int
    unit: Unit
    cpu_blocks: int | None = None
    """Of the V0 engine's swap space; the other forms have none."""


@dataclass(frozen=True)
class Concurrency:
    """How many requests of the greatest length the KV cache holds; a number of two decimals."""

    line: int
    process: Process | None
    tokens: int
    """Of one request: max_model_len."""
    times: float

    def agrees(self, size: KvCacheSize) -> bool:
        """Whether a cache of one kind of blocks can have both; true where the size is in blocks."""
        least = (self.times - 0.005) * self.tokens - 1  # `times` is rounded, the size may be cut to a whole
        most = (self.times + 0.005) * (self.tokens + _LARGEST_BLOCK) + 1
        return size.unit is Unit.BLOCKS or least <= size.count <= most


@dataclass(frozen=True)
class Doubt:
    """A size that does not go with the concurrency that the same process printed next."""

    size: KvCacheSize
    concurrency: Concurrency

    def __str__(self) -> str:
        return (
            f"line {self.size.line} says {self.size.count} tokens, but line {self.concurrency.line} says "
            f"{self.concurrency.times} times {self.concurrency.tokens}: a hybrid model's size is wrong in "
            "some versions (vllm#40691)"
        )


@dataclass(frozen=True)
class KvCacheLines:
    """All of a log, in its order."""

    sizes: tuple[KvCacheSize, ...]
    concurrencies: tuple[Concurrency, ...]

    def values(self) -> frozenset[tuple[int, Unit]]:
        """The different sizes: more than one where workers, engines or boots do not agree."""
        return frozenset((size.count, size.unit) for size in self.sizes)

    def doubts(self) -> Iterator[Doubt]:
        """Sizes in tokens that are not what the concurrency implies."""
        latest: dict[Process | None, KvCacheSize] = {}
        # A size comes before the concurrency of its own line: the order is stable.
        entries: list[KvCacheSize | Concurrency] = [*self.sizes, *self.concurrencies]
        for entry in sorted(entries, key=lambda entry: entry.line):
            if isinstance(entry, KvCacheSize):
                latest[entry.process] = entry
            elif (size := latest.get(entry.process)) is not None and not entry.agrees(size):
                yield Doubt(size, entry)


def read_kv_cache_size(chunks: Iterable[bytes], source: str) -> KvCacheLines:
    """Every size and concurrency of a log. Raises UnknownLineError."""
    sizes: list[KvCacheSize] = []
    concurrencies: list[Concurrency] = []
    for piece in pieces(chunks, _WORDS):
        for subject in piece.matches(_SUBJECT):
            try:
                value = _value(piece, subject.start())
            except ValueError:
                value = None
            match value:
                case KvCacheSize():
                    sizes.append(value)
                case Concurrency():
                    concurrencies.append(value)
                case None:
                    raise UnknownLineError(source, piece, subject.start(), _EXPECTED)
    return KvCacheLines(tuple(sizes), tuple(concurrencies))


def _value(piece: Piece, at: int) -> KvCacheSize | Concurrency | None:
    """What stands there, or None in an unknown form. Raises ValueError for what is no number."""
    process = piece.process(at)
    if found := _TOKENS.match(piece.text, at):
        return KvCacheSize(piece.line, process, count(found[1]), Unit.TOKENS)
    if found := _CONCURRENCY.match(piece.text, at):
        return Concurrency(piece.line, process, count(found[1]), number(found[2]))
    if found := _BLOCKS.match(piece.text, at):
        cpu = None if found[2] is None else count(found[2])
        return KvCacheSize(piece.line, process, count(found[1]), Unit.BLOCKS, cpu)
    return None
