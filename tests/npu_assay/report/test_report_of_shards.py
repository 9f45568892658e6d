"""The report of a merged archive: every shard's run, each stage once, links into the shards' folders."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from page import Element, read_page
from planted_shards import merged, own_stages, plant_shards, whose

from npu_assay.evidence.archive import Archive, seal
from npu_assay.report.derived import derive


@pytest.fixture
def joined(tmp_path) -> Path:
    """A merged archive, as `archive merge` leaves it."""
    shards = plant_shards(tmp_path / "shards")
    for shard in shards:
        shard.derive()
    root = merged(shards, tmp_path / "joined")
    derive(root)
    return root


def page(root: Path) -> Element:
    return read_page(root / "report.html")


def test_every_shard_has_its_stages_and_no_other(joined):
    whole = page(joined)
    assert whole.with_id("verdict").text == "EMULATED PASS"
    headings = [one.text for one in whole.all("h2")]
    assert headings[:4] == [
        *(
            "What was run in shard 1/2",
            "Stages in shard 1/2",
            "What was run in shard 2/2",
            "Stages in shard 2/2",
        ),
    ]
    tables = [one for one in whole.all("table") if one.attributes.get("class") == "stages stacked"]
    shown = [[row.all("th")[0].text for row in table.all("tr")[1:]] for table in tables]
    for index, stages in enumerate(shown, start=1):
        assert set(own_stages(index)) <= set(stages)
        assert not set(own_stages(3 - index)) & set(stages)
    said = (joined / "report.md").read_text().splitlines()
    assert f"## Rounds of offloading in shard {whose('native-high-level')}/2" in said


def test_a_shard_alone_says_what_was_not_run(joined):
    whole = page(joined / "shards/1-of-2")
    assert "What was run" in [one.text for one in whole.all("h2")]
    (row,) = (row for row in whole.all("tr") if row.all("th")[0].text.startswith(own_stages(2)[0]))
    assert row.all("th")[0].text == f"{own_stages(2)[0]}not a stage of shard 1/2"
    assert row.all("td")[0].text == "not run"


def test_links_lead_into_the_shards_folders(joined):
    rounds = joined / f"shards/{whose('native-high-level')}-of-2"
    (rounds / "results/kv-offload.jsonl").write_text('{"run": 1}\n')
    seal(Archive(rounds))
    seal(Archive(joined))
    derive(joined)
    whole = page(joined)
    links = [link.attributes["href"] for link in whole.all("a")]
    files = [unquote(link) for link in links if link.startswith("./")]
    assert all((joined / file).exists() for file in files)
    assert any(file.startswith(f"./shards/{rounds.name}/stages/") for file in files)
    meant = [one.text for one in whole.all("span") if one.attributes.get("class") == "line meant"]
    assert '1{"run": 1}\n' in meant
