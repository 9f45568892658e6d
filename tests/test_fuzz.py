"""The fuzzer finds what it is for, and the parsers survive a short turn; CONTRIBUTING.md has the long one."""

import re
from dataclasses import dataclass

from fuzz import Target, find_targets, fuzz, invented_in_dataclass


@dataclass(frozen=True)
class Pair:
    key: str
    value: int


SEEDS = (b"one : 1\n", b"seven : 7\n")


def careful(data: bytes) -> Pair:
    found = re.fullmatch(r"([a-z]+) : ([0-9]+)\n", data.decode(errors="replace"), re.ASCII)
    if found is None or len(found[2]) > 18 or found[2] != str(int(found[2])):
        raise ValueError("not a pair")
    return Pair(found[1], int(found[2]))


def crashing(data: bytes) -> Pair:
    key, value = data.decode(errors="replace").split(":")[:2]
    return Pair(key, int(value))


def guessing(data: bytes) -> Pair:
    try:
        return careful(data)
    except ValueError:
        return Pair("zero", 0)


def target(parse) -> Target:
    return Target(parse.__name__, parse, SEEDS, (ValueError,), invented_in_dataclass)


def test_a_crash_and_a_made_up_value_are_found():
    good = fuzz([target(careful)], executions=3000)
    assert good.crashes == []
    assert good.returned["careful"] > 100
    (line, all_of_them) = good.lines()
    assert line.startswith("careful: 3000 executions, ")
    assert all_of_them == "all: 1 parsers, 3000 executions, 0 crashes"
    narrow = Target("crashing", crashing, SEEDS, (KeyError,))
    name, data, problem = fuzz([narrow], executions=3000).crashes[0]
    assert (name, isinstance(data, bytes)) == ("crashing", True)
    assert "ValueError" in problem
    assert "'zero' does not stand in the text" in fuzz([target(guessing)], executions=3000).crashes[0][2]


def test_no_parser_crashes_or_makes_something_up():
    targets = find_targets()
    assert {"npu-smi info", "npu-smi by content"} <= {target.name for target in targets}
    record = fuzz(targets, executions=200 * len(targets))
    assert record.crashes == []
    assert min(record.executions.values()) == 200
    assert all(record.returned[target.name] for target in targets)  # else nothing but refusals was tried
