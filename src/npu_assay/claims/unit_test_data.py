"""What is known of vllm-ascend's own tests: which are left out, which skip themselves, how many there are.

Data of the suite: suites/vllm_ascend_ut.toml, and beside it vllm_ascend_ut_counts.toml, which `ci/unit-tests`
writes from archives.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, RootModel, ValidationError

from npu_assay.errors import UsageError
from npu_assay.project import SUITES
from npu_assay.strict import Strict, first_problem

KNOWN = SUITES / "vllm_ascend_ut.toml"
COUNTS = SUITES / "vllm_ascend_ut_counts.toml"
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Ignored(Strict):
    reason: str
    files: list[str]


class _Skipped(Strict):
    reason: str
    tests: Annotated[list[str], Field(min_length=1)]


class KnownTests(Strict):
    """suites/vllm_ascend_ut.toml: what is left out, and which tests skip themselves."""

    variables: dict[str, str]
    deviations: dict[str, str]
    ignored: _Ignored
    skipped: list[_Skipped]

    @property
    def skips(self) -> frozenset[str]:
        """The tests, named as in JUnit."""
        return frozenset(junit_name(test) for group in self.skipped for test in group.tests)


@cache
def known_tests() -> KnownTests:
    """Read the data file. Raises UsageError that names the first thing wrong in it."""
    try:
        return KnownTests.model_validate(tomllib.loads(KNOWN.read_text()))
    except ValidationError as error:
        raise UsageError(f"{KNOWN}: {first_problem(error)}") from error


def junit_name(node_id: str) -> str:
    plain, bracket, parameters = node_id.partition("[")
    path, *names = plain.split("::")
    return f"{'.'.join([module_of(path), *names[:-1]])}::{names[-1]}{bracket}{parameters}"


def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


class CountedFile(Strict):
    """A test file of a release."""

    sha256: Sha256
    tests: Annotated[int, Field(gt=0)]
    """As pytest collects them, parameters and those that skip themselves included."""


class Release(Strict):
    """The tests of a published vllm-ascend."""

    tree_sha256: Sha256
    files: dict[str, CountedFile]


class Counts(RootModel[dict[str, Release]]):
    """suites/vllm_ascend_ut_counts.toml: version -> its tests."""

    def of_content(self, name: str, sha256: str) -> int | None:
        """How many tests that file has, if any release has it with just these bytes."""
        for release in self.root.values():
            known = release.files.get(name)
            if known is not None and known.sha256 == sha256:
                return known.tests
        return None


@cache
def known_counts(path: Path = COUNTS) -> Counts:
    """Read the data file. Raises UsageError that names the first thing wrong in it."""
    try:
        return Counts.model_validate(tomllib.loads(path.read_text()))
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error)}") from error


def files_of_tests(tests: Iterable[str], files: Iterable[str]) -> dict[str, str | None]:
    """Which of the files each test of JUnit is from: `tests.ut.a.Class::test` is from `tests/ut/a.py`."""
    modules = {module_of(file): file for file in files}
    return {test: _of_module(test.partition("::")[0], modules) for test in tests}


def _of_module(module: str, modules: Mapping[str, str]) -> str | None:
    while module and module not in modules:
        module = module.rpartition(".")[0]
    return modules.get(module)
