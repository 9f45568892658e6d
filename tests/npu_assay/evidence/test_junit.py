import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.junit import ReportCase, render_junit
from npu_assay.evidence.pytest_junit import Outcome, read_pytest_junit

TESTS = """
import pytest

def test_good(): pass
def test_bad(): assert False
def test_skip(): pytest.skip("no second die")
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.fixture
def leaky():
    yield
    raise RuntimeError("teardown")
def test_teardown(leaky): pass
"""


def test_reads_what_pytest_really_writes(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    report = tmp_path / "report.xml"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junit-xml={report}",
            "test_it.py",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        check=False,
    )
    assert {case.name: case.outcome for case in read_pytest_junit(report).tests} == {
        "test_it::test_good": Outcome.PASSED,
        "test_it::test_bad": Outcome.FAILED,
        "test_it::test_skip": Outcome.SKIPPED,
        "test_it::test_xfail": Outcome.XFAILED,
        "test_it::test_teardown": Outcome.ERROR,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [("<testsuites", "not XML"), ("", "not XML"), ("<html/>", "expected JUnit's <testsuites>, found <html>")],
)
def test_refuses_what_is_no_junit(tmp_path, content, message):
    path = tmp_path / "report.xml"
    path.write_text("<testsuites/>")
    assert read_pytest_junit(path).tests == ()
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_pytest_junit(path)
    with pytest.raises(UsageError, match="can't be read"):
        read_pytest_junit(tmp_path / "absent.xml")


def test_writes_one_testcase_a_case_with_control_characters_removed():
    xml = render_junit("kv-offload", [ReportCase("unit", 1.5), ReportCase("ruff", failure="\x1b[31mred\x00")])
    root = ElementTree.fromstring(xml)
    cases = root.findall("./testsuite/testcase")
    assert [(case.get("name"), case.find("failure") is None) for case in cases] == [
        ("unit", True),
        ("ruff", False),
    ]
