"""report.md, read by a parser of Markdown: what it says, and that nothing from the archive is markup."""

import re
from pathlib import Path

import pytest
from hostile_archive import WORDS
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from offload_archive import OffloadArchive, round_row

from npu_assay.report.derived import REPORTS, derive
from npu_assay.report.excerpts import ExcerptLine
from npu_assay.report.markdown import code, fence, own

TAGS = {"a", "code", "h1", "h2", "h3", "hr", "li", "p", "pre", "strong", "ul"}
TAGS |= {"table", "tbody", "td", "th", "thead", "tr"}
GITHUB = MarkdownIt("gfm-like", {"linkify": False})


def tokens(text: str) -> list[Token]:
    return [inner for token in GITHUB.parse(text) for inner in (token, *(token.children or ()))]


def lines(offload: OffloadArchive) -> list[str]:
    return (offload.root / "report.md").read_text().splitlines()


def test_the_verdict_comes_first_and_then_what_it_stands_on(offload):
    said = lines(offload)
    assert said[0] == "# EMULATED PASS"
    assert said[2].startswith("`kv-offload on cann900-vllm018`: Every rule of this pipeline holds")
    assert said[2].endswith("this is no evidence about an NPU.")
    headings = [line for line in said if re.match("##? ", line)]
    assert headings[1:] == [
        *("## What was run", "## Stages", "## Findings"),
        *("## Rounds of offloading", "## Tests", "## Versions"),
    ]
    assert "- Device: `emulated: 1 die (910B3)`" in said
    assert "| `1` | `native` | `300` | `0` | `256` | `yes` | `0.700 s` | `0.500 s` | `16 identical` |" in said
    assert "| native-high-level | 4 | 0 | 0 | 0 | 0 |" in said
    assert "| `torch` | `2.9.0` | `2.9.0+cpu` | `torch/__init__.py` |" in said


def test_what_failed_stands_at_the_top_and_shows_the_lines_it_is_about(offload):
    offload.write_rounds(round_row(1), round_row(2, external_cached_tokens=255), round_row(3))
    offload.derive()
    said = lines(offload)
    assert said[0] == "# EMULATED FAIL"
    message = "- **fail** `round 2: external_cached_tokens is 255, expected 256`"
    first, second = (number for number, line in enumerate(said) if line == message)
    assert first < said.index("## What was run") < second
    assert said[second + 1] == "  - [`results/kv-offload.jsonl:2`](./results/kv-offload.jsonl)"
    assert said[second + 3] == "    ```text"
    assert [line[:10] for line in said[second + 4 : second + 7]] == ["      1  {", "    > 2  {", "      3  {"]


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({"cold_cached_tokens": None}, ["300", "not measured", "256", "yes"]),
        ({"reset_prefix_cache": False}, ["300", "0", "256", "no"]),
        ({"external_cached_tokens": [1]}, ["300", "0", "[1]", "yes"]),
    ],
)
def test_a_round_is_shown_as_its_row_has_it(offload, changes, cells):
    row = "| `1` | `native` | " + " | ".join(f"`{cell}`" for cell in ["300", "0", "256", "yes"])
    assert any(line.startswith(row) for line in lines(offload))
    offload.write_rounds(round_row(1, **changes))
    offload.derive()
    row = "| `1` | `native` | " + " | ".join(f"`{cell}`" for cell in cells)
    assert any(line.startswith(row) for line in lines(offload))


@pytest.mark.parametrize(
    ("cold", "external", "words"),
    [
        ([1, 7, 7, 5], [1, 7, 7, 5], "4 identical"),
        ([1, 7, 7, 5], [1, 7, 8, 5], "differ, from token 3 on"),
        ([1, 7, 7, 5], [1, 7], "differ, one is longer"),
        ([], [], "none"),
        ([1, 7, 7, 5], None, "missing"),
    ],
)
def test_the_tokens_of_both_runs_are_compared(offload, cold, external, words):
    offload.write_rounds(round_row(1, cold_token_ids=cold, external_token_ids=external))
    offload.derive()
    assert any(line.endswith(f"| `{words}` |") for line in lines(offload))


def test_rows_that_can_not_be_read_end_the_table_with_the_reason(offload):
    offload.write("results/kv-offload.jsonl", '{"backend": "native", "run": 1}\n{\n')
    offload.derive()
    said = lines(offload)
    assert any(line.startswith("| `1` | `native` | `missing`") for line in said)
    assert any(line.startswith("`results/kv-offload.jsonl:2: expected one JSON object") for line in said)


def test_an_archive_without_a_manifest_still_has_a_report(offload):
    (offload.root / "manifest.json").write_text("{}")
    derive(offload.root, REPORTS)
    said = lines(offload)
    assert said[0] == "# FAIL"
    assert "## What was run" not in said
    assert any("manifest.json" in line and "**fail**" in line for line in said)


def test_nothing_of_a_hostile_archive_is_markup(hostile: Path):
    text = (hostile / "report.md").read_text()
    assert text.isascii() or all(char.isprintable() for char in text.replace("\n", ""))
    parsed = tokens(text)
    assert {token.type for token in parsed} & {"html_inline", "html_block", "image"} == set()
    links = [token.attrs["href"] for token in parsed if token.type == "link_open"]
    assert links
    assert all(str(link).startswith("./") for link in links)
    headings = [token.content for at, token in enumerate(parsed) if parsed[at - 1].type == "heading_open"]
    assert "heading" not in headings
    rendered = GITHUB.render(text)
    assert set(re.findall(r"</?([a-z0-9]+)", rendered)) <= TAGS
    assert "<strong>bold" not in rendered
    assert rendered.count("&lt;script&gt;alert(1)") > 10


@given(st.text() | st.just(WORDS))
def test_a_code_span_is_one_whatever_is_in_it(text):
    for around in ("{}", "- a {} b", "[{}](./x)"):
        found = [token for token in tokens(around.format(code(text))) if token.type == "code_inline"]
        assert len(found) == 1
    (row,) = re.findall(
        "<tbody>.*</tbody>", GITHUB.render(f"| a | b |\n| - | - |\n| {code(text)} | x |"), re.S
    )
    assert row.count("<td") == 2
    assert row.count("<code>") == 1


@given(st.text(st.characters(exclude_characters="\n")))
def test_an_excerpt_stays_in_its_block(text):
    excerpt = (ExcerptLine(1, text.replace("\r", ""), 0, True), ExcerptLine(2, "```", 0, False))
    text = f"- a\n  - b\n\n{fence(excerpt, '    ')}\n\n- c\n"
    assert [token.type for token in tokens(text)].count("fence") == 1
    assert GITHUB.render(text).count("<pre>") == 1
    assert "<p>c</p>" in GITHUB.render(text)


@pytest.mark.parametrize("text", ["a|b", "`", "*x*", "<b>", "[a](b)", "a\nb", "_x_", "&lt;", "back\\slash"])
def test_words_of_ours_can_not_be_markup(text):
    assert own("EMULATED FAIL, 3 min 13 s") == "EMULATED FAIL, 3 min 13 s"
    with pytest.raises(ValueError, match="Markdown may obey"):
        own(text)
