"""docs/troubleshooting.md keeps to what npu-assay does: its checks, its words, its reading of npu-smi's."""

import ast
import re

import pytest
from markdown_parts import Row, code_spans, labels, rows, targets

from npu_assay.cann.agreement import Part
from npu_assay.device.npu_smi.errors import DriverFailureError, MissingLibraryError, NpuSmiError
from npu_assay.device.npu_smi.recognise import parse_npu_smi
from npu_assay.project import ROOT

DOCUMENT = (ROOT / "docs" / "troubleshooting.md").read_text()
SOURCE = ROOT / "src" / "npu_assay"
NPU_SMI, CHECKS = "npu-smi says", "What doctor's checks mean"
#: In place of a report.
OURS = "(npu-assay's own)"
#: Names of these functions' first or `check` argument are names of checks.
_SAYERS = {"Diagnosis", "Difference", "_missing", "_version"}
_LEVELS_TO_ACT_ON = ("Level.PROBLEM", "Level.WARNING", "level")
_REPORT = re.compile(r"https://github\.com/[\w.-]+/(?P<name>[\w.-]+)/(?:issues|pull|commit)/(?P<number>\w+)")


def under(heading: str) -> list[Row]:
    """The rows of the tables under a heading."""
    found = [row for row in rows(DOCUMENT) if row.heading == heading]
    assert found, f"no table under {heading}"
    return found


def checks_in(source: str) -> set[str]:
    """Names of checks that a module may report as something to act on; `…` for a part not known here."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SAYERS):
            continue
        said = [*node.args, *(word.value for word in node.keywords if word.arg in ("check", "level"))]
        level_is_good = {"Level.GOOD", "Level.NOTE"} & {ast.unparse(argument) for argument in said}
        named = [word.value for word in node.keywords if word.arg == "check"] or node.args[:1]
        if named and not level_is_good and (name := _template(named[0])):
            found.add(name)
    return found


def _template(node: ast.expr) -> str | None:
    """A text of the source, with `…` for what is put into it; None for what is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return None


def documented_checks() -> set[str]:
    return {span for row in under(CHECKS) for span in code_spans(row.cells[0])}


def all_checks() -> set[str]:
    found = {name for path in SOURCE.rglob("*.py") for name in checks_in(path.read_text())}
    parts = {f"cann-{part.replace('.', '-')}" for part in Part} - {"cann-toolkit"}  # which is what others fit
    components = {f"{component}-build" for component in ("cann", "cann-ops", "nnal")}
    return found - {"cann-…", "…-build"} | parts | components


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('Diagnosis("a", Level.PROBLEM, "m", "do")', {"a"}),
        ('Difference(check="b", level=Level.WARNING, subject="s", message="m")', {"b"}),
        ('Diagnosis(f"{name}-broke", Level.PROBLEM, "m", "do")', {"…-broke"}),
        ('Diagnosis("good", Level.GOOD, "m")', set()),
        ('other("c", Level.PROBLEM)', set()),
    ],
)
def test_checks_are_found_in_source(source: str, names: set[str]) -> None:
    assert checks_in(source) == names


def test_every_check_is_in_the_table_and_no_other() -> None:
    assert documented_checks() == all_checks()


def messages_in(source: str) -> set[str]:
    """Every text of a module."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr))
    return {text for node in nodes if (text := _template(node))}


def test_texts_are_found_with_a_sign_for_what_is_put_into_them() -> None:
    assert "… is too old, … wants …" in messages_in('f"{a} is too old, " f"{b} wants {c}"')


def test_every_message_of_ours_that_is_quoted_is_in_the_source() -> None:
    messages = {text for path in SOURCE.rglob("*.py") for text in messages_in(path.read_text())}

    def is_ours(quoted: str) -> bool:
        return any(quoted in message for message in messages)

    assert is_ours("no CANN: none in …")
    assert not is_ours("no CANN: none at …")
    quotes = [span for row in under(CHECKS) for span in code_spans(row.cells[2])]
    quotes += [span for row in rows(DOCUMENT) if row.cells[-1] == OURS for span in code_spans(row.cells[0])]
    assert len(quotes) > len(under(CHECKS))
    assert [quoted for quoted in quotes if not is_ours(quoted)] == []


def test_symptoms_name_checks_that_exist() -> None:
    told = [row for row in rows(DOCUMENT) if len(row.cells) == 4 and "`doctor`: " in row.cells[2]]
    assert told
    for row in told:
        named = code_spans(row.cells[2].partition("`doctor`: ")[2])
        assert named, row
        assert set(named) <= documented_checks(), row


def advice_of(message: str) -> str:
    """What npu-assay advises where npu-smi says that."""
    with pytest.raises(NpuSmiError) as raised:
        parse_npu_smi(message.encode(), "npu-smi info")
    return raised.value.advice


def test_npu_smis_words_are_recognised_with_the_advice_of_the_table() -> None:
    for row in under(NPU_SMI):
        said, _, way_out, _ = row.cells
        [message] = code_spans(said)
        advice = advice_of(message)
        words = [span for span in code_spans(way_out) if not span.startswith("./assay")]
        assert words, row
        assert [word for word in words if word not in advice] == [], row


@pytest.mark.parametrize("log_line", ["", "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n"])
@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("dcmi module initialize failed. ret is -8005", DriverFailureError),
        (
            "npu-smi: error while loading shared libraries: libc_sec.so: cannot open shared object file: "
            "No such file or directory",
            MissingLibraryError,
        ),
    ],
)
def test_a_driver_log_before_it_changes_nothing(message: str, kind: type[NpuSmiError], log_line: str) -> None:
    assert message in DOCUMENT
    with pytest.raises(kind):
        parse_npu_smi(f"{log_line}{message}\n".encode(), "npu-smi info")


def test_another_code_gets_other_advice() -> None:
    """Or the test of the table would pass for any message."""
    known = advice_of("dcmi module initialize failed. ret is -8005")
    assert "davinci_manager" in known
    assert "davinci_manager" not in advice_of("dcmi module initialize failed. ret is -8001")


def unsound(document: str) -> list[str]:
    """Labels without an address, addresses without a use, and addresses that are of another report."""
    given = targets(document)
    used = {label for line in document.splitlines() for label in labels(line)}
    found = [f"{label}: no address" for label in sorted(used - given.keys())]
    found += [f"{label}: not used" for label in sorted(given.keys() - used)]
    for label, url in given.items():
        report = _REPORT.fullmatch(url)
        name, number = re.split(r"[#@]", label)
        if report is None or (report["name"], report["number"]) != (name, number):
            found.append(f"{label}: {url}")
    return found


def test_labels_and_addresses_fit() -> None:
    sound = "see [a#1]\n\n[a#1]: https://github.com/o/a/issues/1\n"
    assert unsound(sound) == []
    assert unsound(sound.replace("issues/1", "issues/2")) == ["a#1: https://github.com/o/a/issues/2"]
    assert unsound(sound + "[b#2]\n") == ["b#2: no address"]
    assert unsound(DOCUMENT) == []


def test_every_symptom_says_where_it_is_from() -> None:
    symptoms = [row for row in rows(DOCUMENT) if len(row.cells) == 4]
    assert len(symptoms) > 40
    for row in symptoms:
        assert labels(row.cells[3]) or row.cells[3].startswith("("), row
