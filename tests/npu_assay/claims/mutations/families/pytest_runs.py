"""Tests that failed, were skipped, or were not run: in JUnit, in the log, and in both."""

from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from mutations.forged import Forged
from mutations.mutation import Mutation
from npu_assay.claims.findings import Result

LOG, JUNIT = "stages/unit.log", "stages/unit.junit.xml"
UT_LOG, UT_JUNIT = "stages/vllm-ascend-ut.log", "stages/vllm-ascend-ut.junit.xml"
HIGH_LOG, HIGH_JUNIT = "stages/native-high-level.log", "stages/native-high-level.junit.xml"
#: pytest's last line, with its colours if it has any; the counts are the second group.
SUMMARY = r"^(\S*=+ )((?:\d+ [a-z]+(?:, )?)+)( in [\d.]+s.*)$"
XFAIL = {"type": "pytest.xfail", "message": "no"}


def _junit(name: str, edit: Callable[[Element], object]) -> Mutation:
    return Mutation(name, lambda forged: forged.edit_xml(JUNIT, edit), "tests", names=JUNIT)


def _log(name: str, change: Callable[[Forged], object], rule: str = "tests") -> Mutation:
    return Mutation(name, change, rule, names=LOG)


def _both(name: str, change: Callable[[Forged], object], rule: str = "tests") -> Mutation:
    return Mutation(name, change, rule)


def _counts(log: str, counts: str) -> Callable[[Forged], None]:
    return lambda forged: forged.substitute(log, SUMMARY, rf"\g<1>{counts}\g<3>")


def _passed(forged: Forged, junit: str) -> int:
    return len(_cases(ElementTree.fromstring(forged.read(junit))))


def _suite(root: Element) -> Element:
    return root if root.tag == "testsuite" else root[0]


def _cases(root: Element) -> list[Element]:
    return list(root.iter("testcase"))


def _cut_junit(keep: int) -> Callable[[Element], None]:
    def edit(root: Element) -> None:
        suite = _suite(root)
        for case in _cases(root)[keep:]:
            suite.remove(case)
        suite.set("tests", str(keep))

    return edit


def _drop_last(root: Element) -> None:
    _cut_junit(len(_cases(root)) - 1)(root)


def _mark(tag: str, attributes: dict[str, str] | None = None) -> Callable[[Element], None]:
    return lambda root: ElementTree.SubElement(_cases(root)[0], tag, attributes or {"message": "no"})


def _twice(root: Element) -> None:
    _suite(root).append(_cases(root)[0])


def _renamed(root: Element) -> None:
    _cases(root)[0].set("name", "test_of_nothing")


def _counted(root: Element) -> None:
    _suite(root).set("tests", "1")


def _failures(root: Element) -> None:
    _suite(root).set("failures", "1")


def _cut_both(log: str, junit: str, keep: int) -> Callable[[Forged], None]:
    """JUnit and log say together that fewer tests were run."""

    def change(forged: Forged) -> None:
        forged.edit_xml(junit, _cut_junit(keep))
        forged.substitute(log, SUMMARY, rf"\g<1>{keep} passed\g<3>")
        if b"\ncollected " in forged.read(log):
            forged.substitute(log, r"collected \d+ items?", f"collected {keep} items")

    return change


def _drop_one_of_both(forged: Forged) -> None:
    _cut_both(LOG, JUNIT, _passed(forged, JUNIT) - 1)(forged)


def _failure_hidden(forged: Forged) -> None:
    """A failed test passes in JUnit and in the last line; its own line is left."""
    forged.substitute(LOG, SUMMARY, r"FAILED tests/test_x.py::test_1 - AssertionError\n\g<0>")


def _red_run_first(forged: Forged) -> None:
    """A red session, then the green one of another run appended."""
    forged.write(LOG, b"===== 1 failed, 8 passed in 3.10s =====\n" + forged.read(LOG))


def _skip_in_both(forged: Forged) -> None:
    passed = _passed(forged, JUNIT) - 1
    forged.edit_xml(JUNIT, _mark("skipped", {"type": "pytest.skip", "message": "no"}))
    _counts(LOG, f"{passed} passed, 1 skipped")(forged)


def _file_not_run(forged: Forged) -> None:
    """No test of a file of the tree is in JUnit, which the log's last line agrees with."""

    def edit(root: Element) -> None:
        suite = _suite(root)
        module = (_cases(root)[0].get("classname") or "").rpartition(".Test")[0] or _cases(root)[0].get(
            "classname"
        )
        for case in _cases(root):
            if (case.get("classname") or "").startswith(str(module)):
                suite.remove(case)

    forged.edit_xml(UT_JUNIT, edit)


def _ut_failure(forged: Forged) -> None:
    forged.edit_xml(UT_JUNIT, _mark("failure"))


def _ut_skip(forged: Forged) -> None:
    forged.edit_xml(UT_JUNIT, _mark("skipped", {"message": "no NPU"}))


#: The clock of a line of vLLM's, and the time in JUnit.
CLOCK, TIMESTAMP = r"(?<=INFO )\d\d-\d\d(?= \d\d:)", r'(?<=timestamp=")\d{4}-\d\d-\d\d'

MUTATIONS = (
    Mutation(
        "JUnit of another day",
        lambda forged: forged.substitute(JUNIT, TIMESTAMP, "2026-07-01"),
        "times",
        names=JUNIT,
    ),
    Mutation(
        "JUnit of no time",
        lambda forged: forged.substitute(JUNIT, r' timestamp="[^"]*"', ""),
        "times",
        result=Result.INCONCLUSIVE,
        names=JUNIT,
    ),
    Mutation(
        "the log of another day",
        lambda forged: forged.substitute(HIGH_LOG, CLOCK, "07-01", count=0),
        "times",
        names=HIGH_LOG,
    ),
    _junit("a failure", _mark("failure")),
    _junit("an error", _mark("error")),
    _junit("a skip", _mark("skipped", {"type": "pytest.skip", "message": "no"})),
    _junit("an expected failure", _mark("skipped", XFAIL)),
    _junit("a case removed from JUnit", _drop_last),
    _junit("all cases removed", _cut_junit(0)),
    _junit("a case twice", _twice),
    _junit("a case of another name", _renamed),
    _junit("the count of tests", _counted),
    _junit("the count of failures", _failures),
    Mutation(
        "JUnit with control characters",
        lambda forged: forged.substitute(JUNIT, r'name="test_', 'name="\x1b[2Jtest_'),
        "tests",
        names=JUNIT,
    ),
    Mutation(
        "JUnit with an entity",
        lambda forged: forged.write(
            JUNIT,
            b'<!DOCTYPE x [<!ENTITY a "x">]>'
            + forged.read(JUNIT).partition(b"?>")[2].replace(b">", b">&a;", 1),
        ),
        "tests",
        names=JUNIT,
    ),
    Mutation(
        "JUnit of another stage",
        lambda forged: forged.write(JUNIT, forged.read("stages/native-transfer.junit.xml")),
        "tests",
        names=JUNIT,
    ),
    Mutation(
        "log and JUnit of another stage",
        lambda forged: [
            forged.write(f"stages/unit.{kind}", forged.read(f"stages/native-transfer.{kind}"))
            for kind in ("log", "junit.xml")
        ],
        "tests",
    ),
    _log("a failure in the last line", _counts(LOG, "1 failed, 8 passed")),
    _log("a case removed from the log", _counts(LOG, "1 passed")),
    _log("deselected", _counts(LOG, "9 passed, 1 deselected")),
    _log("no tests", lambda forged: forged.substitute(LOG, SUMMARY, "===== no tests ran in 0.01s =====")),
    _log("no last line", lambda forged: forged.substitute(LOG, SUMMARY, "Segmentation fault")),
    _log("a red session before the green one", _red_run_first),
    _log("a line of a failed test", _failure_hidden),
    _log(
        "pytest broke before the green line",
        lambda forged: forged.substitute(LOG, SUMMARY, r"INTERNALERROR> Traceback\n\g<0>"),
    ),
    _log("the last line twice", lambda forged: forged.substitute(LOG, SUMMARY, r"\g<0>\n\g<0>")),
    _log(
        "the green line of another run appended",
        lambda forged: forged.write(
            LOG,
            b"===== 1 failed in 3.10s =====\n" + forged.read(LOG).splitlines(keepends=True)[-1],
        ),
    ),
    _log("cut to its last line", lambda f: f.write(LOG, f.read(LOG).splitlines(keepends=True)[-1])),
    _both("a case removed from both", _drop_one_of_both),
    _both("cut to one test", _cut_both(LOG, JUNIT, 1)),
    _both("native-high-level cut to one test", _cut_both(HIGH_LOG, HIGH_JUNIT, 1)),
    _both("a skip in both", _skip_in_both),
    _both("an upstream test failed", _ut_failure, "unit-tests"),
    _both("an upstream test skipped", _ut_skip, "unit-tests"),
    _both("upstream's tests cut to one", _cut_both(UT_LOG, UT_JUNIT, 1), "unit-tests"),
    _both("a file of upstream's tests not run", _file_not_run, "unit-tests"),
    _both(
        "upstream's tests of another package",
        lambda forged: forged.substitute(
            UT_LOG, "^package: .*$", "package: /home/me/vllm_ascend/__init__.py"
        ),
        "unit-tests",
    ),
)
