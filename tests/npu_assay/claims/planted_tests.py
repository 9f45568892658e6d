"""Logs and JUnit files of test stages, with the tests that the suites and vllm-ascend 0.18.0 really have."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from npu_assay.claims.suite_tests import suite_tests
from npu_assay.claims.unit_test_data import known_counts, known_tests, module_of
from npu_assay.evidence.manifest import Setting
from npu_assay.source.listing import Listing, parse_listing

#: The listing of vllm-ascend 0.18.0's source distribution, which the lock cann900-vllm018 names.
LISTING = Path(__file__).with_name("vllm_ascend_0.18.0.files.sha256")
LOCKS_TREE: Listing = parse_listing(LISTING.read_bytes(), LISTING.name)


def junit(tests: Mapping[str, str]) -> str:
    """As pytest writes it: test -> what stands in its testcase, nothing where it passed."""
    counts = {
        "errors": sum("<error" in inner for inner in tests.values()),
        "failures": sum("<failure" in inner for inner in tests.values()),
        "skipped": sum("<skipped" in inner for inner in tests.values()),
        "tests": len(tests),
    }
    attributes = "".join(f' {name}="{count}"' for name, count in counts.items())
    cases = "".join(_case(name, inner) for name, inner in tests.items())
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return f'{head}<testsuites><testsuite name="pytest"{attributes}>\n{cases}</testsuite></testsuites>'


def _case(test: str, inner: str) -> str:
    classname, _, name = test.partition("::")
    return f'<testcase classname="{classname}" name="{name}" time="0.001">{inner}</testcase>\n'


def session(summary: str, lines: Iterable[str] = ()) -> str:
    """What pytest prints, these lines in between."""
    words = re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)", summary)
    tests = sum(int(count) for count, _ in words)
    return "".join(
        f"{line}\n"
        for line in (
            "===== test session starts =====",
            f"collected {tests} items",
            *lines,
            f"\x1b[32m===== {summary} in 0.77s =====\x1b[0m",
        )
    )


def names_of_tests(
    stage: str, settings: Mapping[str, Setting] | None = None, with_cpu: bool = True
) -> list[str]:
    """The names of a suite's tests."""
    expected = suite_tests()[stage].expected(settings or {}, with_cpu)
    return [name if n == 1 else f"{name}[{i}]" for name, n in expected.items() for i in range(n)]


def unit_tests() -> dict[str, str]:
    """The lock's vllm-ascend's own: test -> what stands in its testcase. Those that are known to skip, do."""
    skips = sorted(known_tests().skips)
    tests = {}
    for file, counted in known_counts().root["0.18.0"].files.items():
        module = module_of(file)
        own = [name for name in skips if name.startswith((f"{module}::", f"{module}."))]
        tests |= dict.fromkeys(own, '<skipped type="pytest.skip" message="as known"/>')
        tests |= {f"{module}::test_{number}": "" for number in range(counted.tests - len(own))}
    return tests
