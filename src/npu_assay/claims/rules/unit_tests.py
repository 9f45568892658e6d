"""Stage vllm-ascend-ut: vllm-ascend's own tests, counted again from JUnit, log and listing."""

import hashlib
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field, ValidationError

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.pytest_summary import SUMMARY_HOLDS, find_summary
from npu_assay.claims.rules.versions import loaded_path
from npu_assay.errors import UsageError
from npu_assay.evidence.junit import Outcome, TestCase, read_pytest_junit
from npu_assay.project import SUITES
from npu_assay.source.archived import read_listing
from npu_assay.strict import Strict, first_problem

STAGE = "vllm-ascend-ut"
KNOWN = SUITES / "vllm_ascend_ut.toml"
_TESTS = "tests/ut/"
_PACKAGE = "package: "
_EMPTY = hashlib.sha256().hexdigest()
_WRONG = (Outcome.FAILED, Outcome.ERROR)


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
        return frozenset(_junit_name(test) for group in self.skipped for test in group.tests)


@cache
def known_tests() -> KnownTests:
    """Read the data file. Raises UsageError that names the first thing wrong in it."""
    try:
        return KnownTests.model_validate(tomllib.loads(KNOWN.read_text()))
    except ValidationError as error:
        raise UsageError(f"{KNOWN}: {first_problem(error)}") from error


def _junit_name(node_id: str) -> str:
    plain, bracket, parameters = node_id.partition("[")
    path, *names = plain.split("::")
    return f"{'.'.join([_module(path), *names[:-1]])}::{names[-1]}{bracket}{parameters}"


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


class UnitTestsRule(Rule):
    """All of the tree's tests/ut that upstream's CI runs were run on the run's package, and passed.

    Which tests may be skipped is npu-assay's own list, not the run's word.
    """

    name = "unit-tests"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        junit = case.archive.stage_junit(STAGE)
        files = self._files(case)
        if not files and not junit.exists():
            yield self.inconclusive(f"{STAGE}: the tree has no {_TESTS}", Evidence("source/files.sha256"))
            return
        cases = read_pytest_junit(junit)
        yield from self._judge(case, cases)
        yield from self._all_files(files, cases)
        yield self._package(case)

    def _judge(self, case: Case, cases: list[TestCase]) -> Iterator[Finding]:
        junit, known = Evidence(f"stages/{STAGE}.junit.xml"), known_tests().skips
        wrong = [test for test in cases if test.outcome in _WRONG]
        passed = [test for test in cases if test.outcome is Outcome.PASSED]
        skipped = [test for test in cases if test.outcome in (Outcome.SKIPPED, Outcome.XFAILED)]
        unknown = [test for test in skipped if test.name not in known]
        for test in wrong:
            yield self.failed(f"{STAGE}: {test.name} {test.outcome}", junit)
        for test in unknown:
            yield self.inconclusive(
                f"{STAGE}: {test.name} {test.outcome}, not known to be: {test.message}", junit
            )
        summary = find_summary(case.log_lines(STAGE, SUMMARY_HOLDS))
        if summary is None:
            yield self.failed(f"{STAGE}: no summary line of pytest in the log", case.log_of(STAGE))
            return
        # pytest does not count a test in JUnit whose teardown went wrong; such a run has failed anyway.
        if not wrong and (summary.passed, summary.counts.get("skipped", 0)) != (len(passed), len(skipped)):
            yield self.failed(
                f"{STAGE}: {summary.text} by the log; by JUnit {len(passed)} passed, {len(skipped)} skipped",
                summary.evidence,
                junit,
            )
        elif not passed:
            yield self.failed(f"{STAGE}: no test passed: {summary.text}", summary.evidence, junit)
        elif not wrong and not unknown:
            yield self.passed(f"{STAGE}: {summary.text}", summary.evidence, junit)

    def _files(self, case: Case) -> list[str]:
        """Test files of the tree that upstream's CI runs, and that hold something."""
        ignored = known_tests().ignored.files
        return [
            name
            for name, sha256 in read_listing(case.archive.source.listing).files.items()
            if name.startswith(_TESTS)
            and PurePosixPath(name).match("test_*.py")
            and name not in ignored
            and sha256 != _EMPTY
        ]

    def _all_files(self, files: list[str], cases: list[TestCase]) -> Iterator[Finding]:
        """A file that no test of JUnit is from was not run; one without tests looks the same."""
        evidence = Evidence("source/files.sha256"), Evidence(f"stages/{STAGE}.junit.xml")
        modules = {test.name.partition("::")[0] for test in cases}
        missing = [
            file for file in files if not any(f"{one}.".startswith(f"{_module(file)}.") for one in modules)
        ]
        for file in missing:
            yield self.inconclusive(f"{STAGE}: no test of {file} was run", *evidence)
        if not missing:
            yield self.passed(f"{STAGE}: tests of all {len(files)} files were run", *evidence)

    def _package(self, case: Case) -> Finding:
        """The tests saw the package that versions-and-paths loaded."""
        line = next(
            (line for line in case.log_lines(STAGE, _PACKAGE) if line.text.startswith(_PACKAGE)), None
        )
        loaded = loaded_path(case, "vllm-ascend")
        found = "" if line is None else line.text.removeprefix(_PACKAGE)
        evidence = line.evidence if line else case.log_of(STAGE)
        if loaded is None:
            return self.inconclusive(f"{STAGE}: versions-and-paths does not name the package", evidence)
        if found != loaded:
            return self.failed(
                f"{STAGE}: tested {found or 'an unknown package'}, the run's is {loaded}", evidence
            )
        return self.passed(f"{STAGE}: tested {found}", evidence)
