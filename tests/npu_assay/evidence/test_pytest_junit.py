"""JUnit of anybody's making: counted again, with lines, and refused where it can't be pytest's."""

import re

import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.pytest_junit import Outcome, Reason, read_pytest_junit

GOOD = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite errors="0" failures="0" skipped="1" tests="2">
<testcase classname="a" name="test_1"><properties><property name="x" value="y"/></properties></testcase>
<testcase classname="a" name="test_2"><system-out>&#233;</system-out><skipped type="s" message="no NPU"/>
</testcase></testsuite></testsuites>
"""
TEARDOWN = '<error message="failed on teardown with &quot;x&quot;"/>'


def report(path, text: str):
    path.write_text(text)
    return read_pytest_junit(path, "unit.junit.xml")


def test_every_test_has_its_outcome_and_its_line(tmp_path):
    found = report(tmp_path / "junit.xml", GOOD)
    assert [(test.name, test.outcome, test.message, test.line) for test in found.tests] == [
        ("a::test_1", Outcome.PASSED, "", 3),
        ("a::test_2", Outcome.SKIPPED, "no NPU", 4),
    ]
    assert list(found.mismatches()) == []


@pytest.mark.parametrize(
    ("attributes", "cases", "said"),
    [
        ({"tests": "3"}, "", ["<testsuite> says tests=3, but 2 are in it"]),
        ({"tests": "1"}, "", ["<testsuite> says tests=1, but 2 are in it"]),
        ({"failures": "1"}, "", ["<testsuite> says failures=1, but 0 are in it"]),
        ({"errors": "x"}, "", ["<testsuite> says errors=x, but 0 are in it"]),
        ({"skipped": None}, "", ["<testsuite> says skipped=nothing, but 1 are in it"]),
        (
            {"tests": "3"},
            '<testcase classname="a" name="test_1"/>',
            ["a::test_1 stands there twice, first on line 3"],
        ),
        (
            {"tests": "4", "errors": "1"},
            f'<testcase classname="a" name="test_3">{TEARDOWN}</testcase>',
            [f"<testsuite> says tests=4, but 3 are in it: {Reason.TEARDOWN}"],
        ),
        (
            {"tests": "3", "errors": "1", "failures": "1"},
            '<testcase classname="a" name="test_3"><failure message="x"/></testcase>'
            f'<testcase classname="a" name="test_3">{TEARDOWN}</testcase>',
            [f"<testsuite> says tests=3, but 4 are in it: {Reason.TEARDOWN}"],
        ),
    ],
    ids=[
        "more",
        "fewer",
        "failures",
        "no number",
        "nothing",
        "twice",
        "broken teardown",
        "failed and broken",
    ],
)
def test_where_the_file_does_not_agree_with_itself_is_said(tmp_path, attributes, cases, said):
    assert list(report(tmp_path / "junit.xml", GOOD).mismatches()) == []
    text = GOOD.replace("</testsuite>", f"{cases}</testsuite>")
    for name, value in attributes.items():
        text = re.sub(rf' {name}="\d"', "" if value is None else f' {name}="{value}"', text)
    found = list(report(tmp_path / "junit.xml", text).mismatches())
    assert [mismatch.message.removesuffix(f": {Reason.SUBTESTS}") for mismatch in found] == said
    assert found[0].line in (2, 5)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("<testsuites>", '<!DOCTYPE x [<!ENTITY a "b">]><testsuites>', ":2: expected no document type"),
        ("<testsuites>", "<!DOCTYPE x><testsuites>", ":2: expected no document type"),
        ("&#233;", "&a;", ":4: not XML (undefined entity)"),
        ("&#233;", "&#27;", ":4: not XML (reference to invalid character number)"),
        ("&#233;", "\x1b[2J", ":4: not XML (not well-formed (invalid token))"),
        ("test_2", "\x00", ":4: not XML in UTF-8 (a NUL byte)"),
        ('encoding="utf-8"', 'encoding="utf-16"', ":1: expected the encoding utf-8"),
        ('encoding="utf-8"', 'encoding="\u202e"', ":1: not XML"),
        ("</testsuites>", "", ": not XML (no element found)"),
        (GOOD, "<html/>", ":1: expected JUnit's <testsuites>, found <html>"),
        ("<testcase", "<testcases", ":3: expected an element of JUnit, found <testcases> in <testsuite>"),
        (' name="test_1"', "", None),
        (' classname="a" name="test_1"', "", ":3: expected the testcase to have a name"),
        ("<system-out>", "<rerunFailure/><system-out>", "found <rerunFailure> in <testcase>"),
    ],
)
def test_what_is_not_pytests_is_an_error_with_its_line(tmp_path, old, new, problem):
    path = tmp_path / "junit.xml"
    assert len(report(path, GOOD).tests) == 2
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    if problem is None:
        assert len(report(path, text).tests) == 2
        return
    with pytest.raises(UsageError, match=rf"^unit\.junit\.xml:.*{re.escape(problem.lstrip(':'))}"):
        report(path, text)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (GOOD.encode("utf-16"), ":1: not XML in UTF-8 (a NUL byte)"),
        (GOOD.encode("utf-16-le"), ":1: not XML in UTF-8 (a NUL byte)"),
        (GOOD.replace("&#233;", "é").encode("latin-1"), ":4: not XML (not well-formed"),
        (b"<testsuites>" * 100_000, ":1: expected an element of JUnit, found <testsuites> in <testsuites>"),
        (b"", ": not XML (no element found)"),
        (b"<testsuites>\n" + b" " * (64 << 20), ": expected at most 67108864 bytes, found 67108877"),
    ],
    ids=["UTF-16", "UTF-16 without its mark", "Latin-1", "deep", "empty", "long"],
)
def test_bytes_that_are_not_pytests_are_an_error(tmp_path, data, problem):
    path = tmp_path / "junit.xml"
    assert len(report(path, GOOD).tests) == 2
    path.write_bytes(data)
    with pytest.raises(UsageError, match=rf"^unit\.junit\.xml:.*{re.escape(problem.lstrip(':'))}"):
        read_pytest_junit(path, "unit.junit.xml")
