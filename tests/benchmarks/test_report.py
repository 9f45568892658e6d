"""The result as a table, and its place in a README."""

from pathlib import Path

import pytest
from rates import Comparison, Spread
from report import EVIDENCE, THROUGHPUT, Place, Report, with_report, write_report

from npu_assay.errors import UsageError
from npu_assay.project import ROOT

BEGIN, END = THROUGHPUT.begin, THROUGHPUT.end

REPORT = Report(
    comparisons={
        ("emulated", "decode"): Comparison(
            emulated=Spread(median=1503.4, least=1000, most=2000.6),
            cpu=Spread(median=11124, least=9999.9, most=12000),
            ratio=Spread(median=0.135, least=0.1, most=0.2),
        )
    },
    facts={"machine": "a small one"},
)

MARKDOWN = """\
| engine | tokens/s | median (least to most) | CPU engine | ratio |
| --- | --- | --- | --- | --- |
| emulated | decode | 1,503 (1,000 to 2,001) | 11,124 (10,000 to 12,000) | **0.14** (0.10 to 0.20) |

- machine: a small one
"""


def test_the_table_has_medians_extremes_and_ratios_and_the_facts_follow() -> None:
    assert REPORT.markdown() == MARKDOWN


def test_writing_replaces_what_is_between_the_markers_and_nothing_else(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# Before\n\n{BEGIN}\nan old table\n{END}\n\nAfter.\n")
    expected = f"# Before\n\n{BEGIN}\n{MARKDOWN}{END}\n\nAfter.\n"
    for _ in range(2):
        write_report(readme, THROUGHPUT, REPORT.markdown())
        assert readme.read_text() == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{BEGIN}\n", "found 0"),
        (f"{END}\n", "found 0"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n", "found 2"),
        (f"{END}\n{BEGIN}\n", "stands before"),
    ],
)
def test_a_readme_without_a_place_for_it_is_left_alone(text: str, problem: str, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text)
    with pytest.raises(UsageError, match=problem):
        write_report(readme, THROUGHPUT, REPORT.markdown())
    assert readme.read_text() == text


@pytest.mark.parametrize("place", [THROUGHPUT, EVIDENCE])
def test_the_benchmarks_own_readme_has_a_place_for_it(place: Place) -> None:
    text = (ROOT / "benchmarks" / "README.md").read_text()
    assert MARKDOWN in with_report(text, place, MARKDOWN, "README.md")
