"""Stage vllm-ascend-ut: vllm-ascend's own tests, counted again from JUnit, log and listing."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.pytest_log import problems_of, read_pytest_log
from npu_assay.claims.rules.pytest_stages import recounted
from npu_assay.claims.rules.versions import loaded_path
from npu_assay.claims.unit_test_data import files_of_tests, known_counts, known_tests
from npu_assay.evidence.pytest_junit import Outcome, PytestReport, TestCase, read_pytest_junit
from npu_assay.source.listing import Listing

STAGE = "vllm-ascend-ut"
_TESTS = "tests/ut/"
_PACKAGE = "package: "
_EMPTY = hashlib.sha256().hexdigest()
_WRONG = (Outcome.FAILED, Outcome.ERROR)
_JUNIT = f"stages/{STAGE}.junit.xml"
_LISTING = Evidence("source/files.sha256")


class UnitTestsRule(Rule):
    """All of the tree's tests/ut that upstream's CI runs were run on the run's package, and passed.

    Which tests may be skipped, and how many each file of a release has, is npu-assay's own list, not the
    run's word. Of a file that no release has with these bytes, nobody knows how many tests it has.
    """

    name = "unit-tests"
    version = 2

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(STAGE):
            yield self.stage_not_run(STAGE)
            return
        junit = case.archive.stage_junit(STAGE)
        listing = case.listing
        files = test_files(listing)
        if not files and not junit.exists() and not case.manifest.source.is_locks:
            yield self.inconclusive(f"{STAGE}: the tree has no {_TESTS}", _LISTING)
            return
        report = read_pytest_junit(junit, _JUNIT)
        yield from self._judge(case, report)
        yield from self._counted(case, listing, files, report.tests)
        yield self._package(case)

    def _judge(self, case: Case, report: PytestReport) -> Iterator[Finding]:
        junit, known, tests = Evidence(_JUNIT), known_tests().skips, report.tests
        wrong = [test for test in tests if test.outcome in _WRONG]
        passed = [test for test in tests if test.outcome is Outcome.PASSED]
        skipped = [test for test in tests if test.outcome in (Outcome.SKIPPED, Outcome.XFAILED)]
        unknown = [test for test in skipped if test.name not in known]
        for test in wrong:
            yield self.failed(f"{STAGE}: {test.name} {test.outcome}", Evidence(_JUNIT, test.line))
        for test in unknown:
            message = f"{STAGE}: {test.name} {test.outcome}, not known to be: {test.message}"
            yield self.inconclusive(message, Evidence(_JUNIT, test.line))
        log, record = read_pytest_log(case, STAGE), case.manifest.stage(STAGE)
        exit_code, seconds = (record.exit_code, record.seconds) if record else (None, None)
        problems = [
            self.failed(f"{STAGE}: {problem.message}", *(problem.evidence or (case.log_of(STAGE),)))
            for problem in problems_of(log, exit_code, seconds)
        ]
        problems += recounted(self, report, _JUNIT, subtests=True)
        yield from problems
        wrong_counts = any(problem.result is not Result.NOT_APPLICABLE for problem in problems)
        if (summary := log.summary) is None:
            return
        by_log = summary.passed, summary.counts.get("skipped", 0)
        others = summary.not_passed.keys() - {"skipped"}
        if not wrong and (others or by_log != (len(passed), len(skipped))):
            by_junit = f"by JUnit {len(passed)} passed, {len(skipped)} skipped"
            yield self.failed(f"{STAGE}: {summary.text} by the log; {by_junit}", summary.evidence, junit)
        elif not passed:
            yield self.failed(f"{STAGE}: no test passed: {summary.text}", summary.evidence, junit)
        elif not (wrong or unknown or wrong_counts):
            yield self.passed(f"{STAGE}: {summary.text}", summary.evidence, junit)

    def _counted(
        self, case: Case, listing: Listing, files: Sequence[str], tests: Sequence[TestCase]
    ) -> Iterator[Finding]:
        """As many tests of each file were run as it has; a file of which none was run was not run."""
        places = _LISTING, Evidence(_JUNIT)
        of_tests = files_of_tests((test.name for test in tests), files)
        for test in tests:
            if of_tests[test.name] is None:
                message = f"{STAGE}: {test.name} is not from a file of the tree that is run"
                yield self.failed(message, _LISTING, Evidence(_JUNIT, test.line))
        ran = Counter(of_tests.values())
        source = case.manifest.source
        release = known_counts().root.get(source.version) if source.is_locks else None
        if release is not None and release.tree_sha256 != listing.sha256:
            message = f"the tree is {listing.sha256}, vllm-ascend {source.version} is {release.tree_sha256}"
            yield self.failed(f"{STAGE}: {message}", _LISTING)
        expected = {name: known_counts().of_content(name, listing.files[name]) for name in files}
        wrong = [name for name, count in expected.items() if ran[name] != (count or ran[name] or 1)]
        for name in wrong:
            count = expected[name]
            message = f"{STAGE}: {ran[name] or 'no'} tests of {name} were run" + (
                f", it has {count}" if count else ""
            )
            # In another tree they may depend on what was changed elsewhere, and a file may have none.
            judged = self.failed if source.is_locks and count and ran[name] < count else self.inconclusive
            yield judged(message, *places)
        unknown = [name for name, count in expected.items() if count is None]
        if source.is_locks and release is None:
            message = f"{STAGE}: how many tests vllm-ascend {source.version} has is not known to npu-assay"
            yield self.inconclusive(message, _LISTING)
        elif not wrong:
            rest = f"; how many {len(unknown)} of them have is not known" if unknown else ""
            yield self.passed(f"{STAGE}: tests of all {len(files)} files were run{rest}", *places)

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


def test_files(listing: Listing) -> list[str]:
    """Test files of the tree that upstream's CI runs, and that hold something."""
    ignored = known_tests().ignored.files
    return [
        name
        for name, sha256 in listing.files.items()
        if name.startswith(_TESTS)
        and PurePosixPath(name).match("test_*.py")
        and name not in ignored
        and sha256 != _EMPTY
    ]
