"""Feed mutated texts to parsers: `python tests/fuzz.py --seconds 600`.

Whatever a parser is given, it may only return, or raise what its documentation names; and what it returns
has to stand in the text: no number or word that nobody wrote. Targets are found in `fuzz_*.py` under this
folder: a module with a list `TARGETS`. Each execution takes one of a target's seeds (or splices two) and
changes it a few times; the words of all seeds are the dictionary. Exit code 1, and the input in `--crashes`,
when something else happened.
"""

import argparse
import dataclasses
import importlib.util
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
_NUMBERS = [
    b"0",
    b"-1",
    b"-",
    b"NA",
    b"1e9",
    b"99999999999999999999",
    b"007",
    b"3.5",
    b"0x1",
    b"\xd9\xa3",
    b"",
]
_CLOCK_EVERY = 64


@dataclass(frozen=True)
class Target:
    """A parser of bytes."""

    name: str
    parse: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    documented: tuple[type[BaseException], ...]
    """What it may raise."""
    invented: Callable[[object, str], str | None] = lambda result, text: None
    """What stands in a result and not in the text it was made from, or None."""


@dataclass
class Record:
    """What came of a run."""

    executions: Counter[str] = field(default_factory=Counter)
    returned: Counter[str] = field(default_factory=Counter)
    crashes: list[tuple[str, bytes, str]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """A line a target, and one for all."""
        for name, count in sorted(self.executions.items()):
            yield f"{name}: {count} executions, {self.returned[name]} read, the rest refused"
        yield (
            f"all: {len(self.executions)} parsers, {sum(self.executions.values())} executions, "
            f"{len(self.crashes)} crashes"
        )


def fuzz(
    targets: list[Target], *, seconds: float | None = None, executions: int | None = None, seed: int = 0
) -> Record:
    """Execute targets in turn, for so long or so often; stops early at 20 crashes."""
    chance = random.Random(seed)
    words = sorted({word for target in targets for text in target.seeds for word in text.split()})
    record = Record()
    began, done = time.monotonic(), 0
    while executions is None or done < executions:
        if seconds is not None and done % _CLOCK_EVERY == 0 and time.monotonic() - began > seconds:
            break
        target = targets[done % len(targets)]
        data = mutated(target.seeds, words, chance)
        record.executions[target.name] += 1
        problem = _execute(target, data, record)
        if problem is not None:
            record.crashes.append((target.name, data, problem))
            if len(record.crashes) >= 20:
                break
        done += 1
    return record


def _execute(target: Target, data: bytes, record: Record) -> str | None:
    try:
        result = target.parse(data)
    except target.documented:
        return None
    except Exception:
        return traceback.format_exc()
    record.returned[target.name] += 1
    invented = target.invented(result, data.decode(errors="replace"))
    return None if invented is None else f"{invented} does not stand in the text: {result}"


def mutated(seeds: tuple[bytes, ...], words: list[bytes], chance: random.Random) -> bytes:
    """A seed, or the beginning of one and the end of another, changed up to five times."""
    data = chance.choice(seeds)
    if chance.random() < 0.1:
        other = chance.choice(seeds)
        data = data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]
    for _ in range(chance.randrange(6)):
        data = chance.choice(_CHANGES)(data, words, chance)
    return data


def _flip(data: bytes, words: list[bytes], chance: random.Random) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _insert_word(data: bytes, words: list[bytes], chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(words) + data[at:]


def _replace_word(data: bytes, words: list[bytes], chance: random.Random) -> bytes:
    there = data.split()
    if not there:
        return data
    return data.replace(chance.choice(there), chance.choice([*_NUMBERS, chance.choice(words)]), 1)


def _delete(data: bytes, words: list[bytes], chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.randrange(20) :]


def _cut(data: bytes, words: list[bytes], chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _lines(data: bytes, words: list[bytes], chance: random.Random) -> bytes:
    """A line twice, gone, or elsewhere."""
    lines = data.split(b"\n")
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


_CHANGES = (_flip, _insert_word, _replace_word, _delete, _cut, _lines)


def invented_in_dataclass(result: object, text: str) -> str | None:
    """A number or word in the fields of a frozen dataclass, at any depth, that the text does not have."""
    together = " ".join(text.split())
    for value in _values(result):
        if isinstance(value, float):
            value = int(value) if value.is_integer() else value
        if str(value) not in text and str(value) not in together:
            return repr(value)
    return None


def _values(value: object) -> Iterator[object]:
    if dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            yield from _values(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _values(key)
            yield from _values(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _values(one)
    elif value is not None and not isinstance(value, bool):
        yield value


def find_targets(folder: Path = HERE) -> list[Target]:
    """The targets of every fuzz_*.py under a folder."""
    targets: list[Target] = []
    for number, path in enumerate(sorted(folder.rglob("fuzz_*.py"))):
        spec = importlib.util.spec_from_file_location(f"fuzz_target_{number}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path.parent))
        sys.path.insert(0, str(HERE))
        spec.loader.exec_module(module)
        targets += module.TARGETS
    return targets


def main() -> int:
    """Fuzz for some time, print the record, keep what crashed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="for the same inputs again")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--crashes", type=Path, default=Path("crashes"), help="folder for what crashed")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    targets = [target for target in find_targets() if arguments.only in target.name]
    record = fuzz(targets, seconds=arguments.seconds, seed=seed)
    print(f"seed: {seed}")
    print(*record.lines(), sep="\n")
    for number, (name, data, problem) in enumerate(record.crashes):
        arguments.crashes.mkdir(parents=True, exist_ok=True)
        (arguments.crashes / f"{number}.input").write_bytes(data)
        print(f"{name}: {arguments.crashes / f'{number}.input'}\n{problem}", file=sys.stderr)
    return 1 if record.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
