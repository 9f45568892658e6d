"""report.html as bytes: one file, nothing to load, nothing to run, every link leads somewhere."""

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hostile_archive import IMAGE, MARKDOWN, SCRIPT
from offload_archive import OffloadArchive, round_row, to_hardware
from page import Element, read_page

from npu_assay.evidence.manifest import StageStatus
from npu_assay.report.derived import REPORTS, derive
from npu_assay.report.findings import MOST_OF_RULE


def page(offload: OffloadArchive) -> Element:
    return read_page(offload.root / "report.html")


def failing(offload: OffloadArchive) -> Element:
    offload.write_rounds(round_row(1), round_row(2, external_cached_tokens=255), round_row(3))
    offload.change_stage("unit", status=StageStatus.FAIL, exit_code=1, reason="exit code 1")
    offload.derive()
    return page(offload)


def test_an_emulated_pass_says_so_in_words_and_marks(offload):
    whole = page(offload)
    assert whole.with_id("verdict").text == "EMULATED PASS"
    (title,) = whole.all("title")
    assert title.text == "EMULATED PASS: kv-offload on cann900-vllm018"
    assert "no evidence about an NPU" in whole.text
    (verdict,) = (one for one in whole.all("section") if one.attributes.get("aria-label") == "verdict")
    assert verdict.attributes["class"] == "verdict is-pass is-marked"


def test_a_pass_on_hardware_has_no_mark(offload):
    to_hardware(offload)
    offload.derive()
    whole = page(offload)
    assert whole.with_id("verdict").text == "PASS"
    (verdict,) = (one for one in whole.all("section") if one.attributes.get("aria-label") == "verdict")
    assert verdict.attributes["class"] == "verdict is-pass"
    assert "no evidence about an NPU" not in whole.text


def test_what_failed_is_linked_from_the_top_and_open(offload):
    assert not [one for one in page(offload).all("ul") if one.attributes.get("class") == "worst"]
    whole = failing(offload)
    (worst,) = (one for one in whole.all("ul") if one.attributes.get("class") == "worst")
    links = {link.text: link.attributes["href"] for link in worst.all("a")}
    assert list(links) == ["unit: fail, exit code 1", "round 2: external_cached_tokens is 255, expected 256"]
    finding = whole.with_id(links["round 2: external_cached_tokens is 255, expected 256"][1:])
    (excerpt,) = finding.all("details")
    assert "open" in excerpt.attributes
    (meant,) = (one for one in excerpt.all("span") if one.attributes.get("class") == "line meant")
    assert meant.text.startswith('2{"backend": "native", "run": 2')
    rules = [one.text for one in whole.all("h3")]
    assert rules[:2] == ["stages/1", next(rule for rule in rules if rule.startswith("offload-rounds/"))]


def test_every_stage_has_status_time_and_a_bar_with_words(offload):
    started = offload.manifest.started
    for stage in offload.manifest.stages:
        offload.change_stage(stage.name, started=None, seconds=None)
    offload.change_stage("unit", started=started, seconds=1.25)
    offload.derive()
    (table,) = (one for one in page(offload).all("table") if one.attributes.get("class") == "stages stacked")
    rows = {row.all("th")[0].text: row for row in table.all("tr")[1:]}
    assert list(rows) == [stage.name for stage in offload.manifest.stages]
    bar = rows["unit"].all("svg")[0]
    assert bar.attributes["aria-label"] == "begins 0.0 s after the run, takes 1.2 s"
    assert bar.all("rect")[0].attributes["class"] == "is-pass"
    assert rows["ruff"].all("svg")[0].attributes["aria-label"] == "was not started"
    assert rows["ruff"].all("rect") == []


def test_links_lead_to_anchors_of_the_page_or_files_of_the_archive(offload):
    whole = failing(offload)
    ids = [one.attributes["id"] for one in whole.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [link.attributes["href"] for link in whole.all("a")]
    assert {link[0] for link in links} == {"#", "."}
    for link in links:
        assert link[1:] in ids if link.startswith("#") else (offload.root / unquote(link)).exists()
    for one in whole.all():
        assert one.attributes.get("aria-labelledby", ids[0]) in ids


def test_a_file_that_is_not_there_has_no_link(offload):
    def links() -> list[str]:
        return [link.attributes["href"] for link in page(offload).all("a")]

    assert "./stages/compileall.log" in links()
    offload.remove_stage("compileall", StageStatus.SKIPPED, "ruff did not pass")
    offload.derive()
    assert "./stages/compileall.log" not in links()
    assert "stages/compileall.log" in [one.text for one in page(offload).all("code")]


def test_evidence_behind_a_link_is_not_read(offload, tmp_path):
    (tmp_path / "secret").write_text("the secret\n" * 9)
    rounds = offload.root / "results/kv-offload.jsonl"
    rounds.unlink()
    rounds.symlink_to(tmp_path / "secret")
    derive(offload.root, REPORTS)
    assert "the secret" not in page(offload).text
    assert page(offload).with_id("verdict").text == "FAIL"


def test_a_fault_that_is_found_ten_thousand_times_is_shown_a_hundred_times(offload):
    offload.write_rounds(*(round_row(run, external_cached_tokens=255) for run in range(10_000)))
    offload.derive()
    whole = page(offload)
    shown = [
        one
        for one in whole.all("li")
        if "external_cached_tokens is 255" in one.text and "id" in one.attributes
    ]
    assert len(shown) <= MOST_OF_RULE
    assert re.search(r"and 9,9\d\d more, which npu-assay verify lists", whole.text)
    assert (offload.root / "report.html").stat().st_size < 2 << 20


@pytest.mark.parametrize("which", ["good", "hostile"])
def test_nothing_is_loaded_run_or_styled_but_by_the_page_itself(offload, hostile, which):
    root: Path = {"good": offload.root, "hostile": hostile}[which]
    whole = read_page(root / "report.html")
    assert {one.tag for one in whole.all()} & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "base",
        "form",
    } == set()
    for one in whole.all():
        assert not [name for name in one.attributes if name.startswith("on") or name in ("src", "style")]
        assert one.attributes.get("href", "#")[:2] in ("#", "./") or one.attributes["href"][0] == "#"
    (style,) = whole.all("style")
    assert not re.search(r"url\(|@import|@font-face|expression", style.text)
    (policy,) = (one.attributes["content"] for one in whole.all("meta") if "http-equiv" in one.attributes)
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")


def test_words_of_a_hostile_archive_are_text(hostile):
    text = read_page(hostile / "report.html").text
    for words in (SCRIPT, IMAGE, MARKDOWN.replace("\n", r"\n"), "{{ 7 * 7 }}{% raw %}"):
        assert words in text
    assert r"nul\x00 bell\x07" in text
    assert r"\u202etxt.exe \u200b" in text
    assert all(char.isprintable() or char in "\n" for char in (hostile / "report.html").read_text())
