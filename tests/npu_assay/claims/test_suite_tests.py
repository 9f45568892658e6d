"""What npu-assay says of its suites' tests is what their files have."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from npu_assay.claims.rules.cpu_tokens import LENGTHS
from npu_assay.claims.suite_tests import suite_tests
from npu_assay.claims.unit_test_data import files_of_tests, known_counts, known_tests
from npu_assay.project import ADAPTATIONS, SUITES

#: Stage -> the folder of its tests, and that which JUnit names them from.
FOLDERS = {
    "unit": (ADAPTATIONS / "tests", ADAPTATIONS),
    "native-transfer": (SUITES / "native_transfer", SUITES),
    "native-high-level": (SUITES / "native_high_level", SUITES),
    "engine": (SUITES / "engine", SUITES),
}


def functions(folder: Path, root: Path) -> set[str]:
    """The test functions in a folder, as JUnit names them."""
    found = set()
    for path in folder.rglob("test_*.py"):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add(f"{module}::{node.name}")
            elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                names = [one.name for one in node.body if isinstance(one, ast.FunctionDef)]
                found |= {f"{module}.{node.name}::{name}" for name in names if name.startswith("test_")}
    return found


@pytest.mark.parametrize("stage", suite_tests())
def test_every_test_function_is_counted_and_no_other(stage: str) -> None:
    known = suite_tests()[stage]
    found = functions(*FOLDERS[stage])
    assert found
    assert known.tests.keys() | known.with_cpu.keys() == found, "suites/tests.toml is not as the suite is"
    assert all(isinstance(count, str) or count > 0 for count in (known.tests | known.with_cpu).values())


def test_how_many_tests_a_setting_says() -> None:
    high = suite_tests()["native-high-level"]
    rounds, cpu = (
        "native_high_level.test_rounds::test_round",
        "native_high_level.test_tokens_equal_cpu::test_tokens",
    )
    assert (high.expected({"rounds": 5}, True)[rounds], high.expected({"rounds": 5}, True)[cpu]) == (5, 3)
    assert (high.expected({"rounds": True}, False)[rounds], high.expected({}, False)[cpu]) == (0, 0)


def test_prompts_are_compared_with_the_cpus_as_the_suites_do() -> None:
    tree = ast.parse((SUITES / "support/cpu_tokens.py").read_text())
    (lengths,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "LENGTHS"
    ]
    assert tuple(lengths.values()) == LENGTHS


def test_of_each_release_the_known_skips_are_among_the_counted_tests() -> None:
    for release in known_counts().root.values():
        assert release.files
        assert not release.files.keys() & set(known_tests().ignored.files)
        skips = Counter(files_of_tests(known_tests().skips, release.files).values())
        assert None not in skips
        assert all(skips[name] <= release.files[name].tests for name in skips if name)
