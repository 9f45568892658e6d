"""report.html as people see it, without network: on a desk, on a phone, in the dark, on paper."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from offload_archive import OffloadArchive, round_row
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from npu_assay.evidence.manifest import StageStatus

pytestmark = pytest.mark.xdist_group("chromium")

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 375, "height": 667}
WHICH = ["good", "failing", "hostile"]

#: Texts whose contrast with what is behind them is less than WCAG 2.2 asks for (1.4.3, level AA).
TOO_FAINT = """() => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const luminance = colour => {
    const [r, g, b] = parts(colour).map(value => value / 255)
      .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const both = [element.closest("svg") ? style.fill : style.color, behind(element)].map(luminance).sort();
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return faint;
}"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's, which `./assay test` installs."""
    program = shutil.which("chromium")
    assert program, "there is no chromium; type: ./assay test"
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def reports(tmp_path_factory, hostile) -> dict[str, Path]:
    """Which -> its report."""
    good = OffloadArchive(tmp_path_factory.mktemp("good") / "run")
    good.derive()
    failing = OffloadArchive(tmp_path_factory.mktemp("failing") / "run")
    failing.write_rounds(round_row(1), round_row(2, external_cached_tokens=255), round_row(3))
    failing.change_stage("unit", status=StageStatus.FAIL, exit_code=1, reason="exit code 1")
    failing.derive()
    roots = {"good": good.root, "failing": failing.root, "hostile": hostile}
    return {which: root / "report.html" for which, root in roots.items()}


def opened(chromium: Browser, report: Path, viewport: dict[str, int] = DESK, **settings: object) -> Page:
    """A new page, in a context that has no network."""
    page = chromium.new_context(viewport=viewport, offline=True, **settings).new_page()
    page.goto(report.as_uri())
    return page


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def in_viewport(page: Page, element: Locator) -> bool:
    box, size = element.bounding_box(), page.viewport_size
    return (
        box is not None
        and box["y"] >= 0
        and box["y"] + box["height"] <= size["height"]
        and box["x"] + box["width"] <= size["width"]
    )


@pytest.mark.parametrize("which", WHICH)
def test_nothing_is_asked_for_complained_of_or_run(chromium, reports, which):
    page = chromium.new_context(viewport=DESK, offline=True).new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.goto(reports[which].as_uri())
    unfold(page)
    page.wait_for_load_state("networkidle")
    assert asked == [reports[which].as_uri()]
    assert said == []
    assert page.title().startswith("EMULATED ")
    page.evaluate("console.error('seen')")
    page.goto((reports[which].parent / "report.md").as_uri())
    assert (said, len(asked)) == (["seen"], 2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize(("which", "words"), [("good", "EMULATED PASS"), ("failing", "EMULATED FAIL")])
def test_the_verdict_is_what_one_sees_first(chromium, reports, which, words, viewport, scheme):
    page = opened(chromium, reports[which], viewport, color_scheme=scheme)
    verdict = page.locator("#verdict")
    assert verdict.inner_text() == words
    assert in_viewport(page, verdict)
    assert in_viewport(page, page.locator(".worth"))
    assert not in_viewport(page, page.locator("footer"))
    sizes = page.evaluate(
        "[...document.querySelectorAll('body *')].map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert float(verdict.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")) == max(sizes) >= 30


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
@pytest.mark.parametrize("which", WHICH)
def test_no_screen_has_to_be_scrolled_sideways(chromium, reports, which, width):
    page = opened(chromium, reports[which], {"width": width, "height": 700})
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) == width
    unfold(page)
    assert page.evaluate(wide) == width
    page.evaluate("document.querySelector('footer').style.width = '2000px'")
    assert page.evaluate(wide) > width


def test_a_link_of_the_verdict_shows_the_finding_and_its_line(chromium, reports):
    page = opened(chromium, reports["failing"])
    link = page.get_by_role("link", name="round 2: external_cached_tokens is 255")
    target = page.locator(str(link.get_attribute("href")))
    assert not in_viewport(page, target)
    link.click()
    assert in_viewport(page, target.locator(".message"))
    assert '"external_cached_tokens": 255' in target.locator(".line.meant").inner_text()


def test_a_link_to_a_folded_finding_unfolds_it(chromium, reports):
    page = opened(chromium, reports["good"])
    finding = page.locator("#finding-1")
    assert not finding.is_visible()
    page.goto(reports["good"].as_uri() + "#finding-1")
    assert finding.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["good", "failing"])
def test_every_text_can_be_told_from_what_is_behind_it(chromium, reports, which, scheme):
    page = opened(chromium, reports[which], color_scheme=scheme)
    unfold(page)
    assert page.evaluate(TOO_FAINT) == []
    page.evaluate("document.querySelector('.worth').style.color = 'rgb(128, 128, 128)'")
    assert len(page.evaluate(TOO_FAINT)) == 1


def test_paper_shows_what_is_folded_on_a_screen(chromium, reports):
    page = opened(chromium, reports["good"], color_scheme="dark")
    finding = page.locator("#finding-1")
    assert not finding.is_visible()
    page.emulate_media(media="print")
    assert finding.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_page_is_a_tree_that_a_screen_reader_can_walk(chromium, reports):
    page = opened(chromium, reports["failing"], PHONE)
    assert page.get_by_role("heading", level=1).inner_text().endswith("kv-offload on cann900-vllm018")
    assert [one.inner_text() for one in page.get_by_role("heading", level=2).all()] == [
        *("What was run", "Stages", "Findings", "Rounds of offloading", "Tests", "Versions"),
    ]
    stages = page.get_by_role("table").first
    row = stages.get_by_role("row").filter(has=page.get_by_role("rowheader", name="unit"))
    assert row.get_by_role("cell").first.inner_text() == "fail"
    assert str(row.get_by_role("img").get_attribute("aria-label")).startswith("begins ")
