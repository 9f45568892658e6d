"""Which tests a stage's suite has: suites/tests.toml."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pydantic import Field, RootModel, ValidationError

from npu_assay.claims.case import Case
from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import Setting
from npu_assay.project import SUITES
from npu_assay.strict import Strict, first_problem

FILE = SUITES / "tests.toml"


class SuiteTests(Strict):
    """The tests of one stage: function, as in JUnit -> how many, or the setting that says how many."""

    tests: dict[str, int | str]
    with_cpu: dict[str, int | str] = Field(default_factory=dict)
    """Those that compare with the CPU, where that applies."""

    def expected(self, settings: Mapping[str, Setting], with_cpu: bool) -> Counter[str]:
        """How many tests of each function a run with these settings has; 0 for a setting that is none."""
        counts = self.tests | (self.with_cpu if with_cpu else {})
        return Counter({name: _count(count, settings) for name, count in counts.items()})


class _File(RootModel[dict[str, SuiteTests]]):
    """suites/tests.toml: stage -> its tests."""

    root: dict[str, SuiteTests] = Field(min_length=1)


@cache
def suite_tests(path: Path = FILE) -> dict[str, SuiteTests]:
    """Read the data file: stage -> its tests. Raises UsageError that names the first thing wrong in it."""
    try:
        return _File.model_validate(tomllib.loads(path.read_text())).root
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error)}") from error


def functions_of(tests: Iterable[str]) -> Counter[str]:
    """How many of the tests, named as in JUnit, each test function is."""
    return Counter(test.partition("[")[0] for test in tests)


def compared_with_cpu(case: Case, stage: str) -> bool:
    """Whether the stage's tokens can be held against a CPU's: the tiny model, in float32, emulated."""
    record = case.manifest.stage(stage)
    dtype = record.settings.get("dtype") if record else None
    tiny = case.manifest.device.kind == "emulated" and case.manifest.model is None
    return tiny and dtype in (None, "float32")


def _count(count: int | str, settings: Mapping[str, Setting]) -> int:
    found = settings.get(count) if isinstance(count, str) else count
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
