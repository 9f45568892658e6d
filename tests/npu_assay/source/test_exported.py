"""`build --export`: what was exported is the same tree with the same commit, without git, and no other."""

import shutil
from pathlib import Path

import pytest
from planted_source import FILES, SDIST, checkout, commit, files_below, plant, sdist

from npu_assay.errors import UnusableError, UsageError
from npu_assay.source.export import export_to
from npu_assay.source.location import Exported, Folder, parse_location
from npu_assay.source.record import SourceRecord
from npu_assay.source.tree import Wanted, make_tree

NOTE = "exported before, by npu-assay build --export"


def record_of(source: str, cache: Path) -> SourceRecord:
    """What a run with this SOURCE says about it."""
    return make_tree(Wanted(parse_location(source)), "0.17.9", cache, lambda line: None).record


def exported(source: str, folder: Path) -> Path:
    """Export a SOURCE."""
    export_to(parse_location(source), folder, folder.parent / "cache", lambda line: None)
    return folder


@pytest.mark.parametrize("kind", ["clean", "dirty", "no git", "branch"])
def test_what_was_exported_has_the_record_of_its_source(tmp_path: Path, kind: str) -> None:
    folder = plant(tmp_path / "tree") if kind == "no git" else checkout(tmp_path / "tree")
    if kind == "dirty":
        (folder / "vllm_ascend/handler.py").write_text("changed\n")
    source = f"git+file://{folder}@main" if kind == "branch" else str(folder)
    before = record_of(source, tmp_path / "cache")
    assert before.dirty == {"clean": False, "dirty": True, "no git": None, "branch": False}[kind]
    where = exported(source, tmp_path / "exported")
    shutil.rmtree(folder)
    assert parse_location(str(where)) == Exported(where)
    after = record_of(str(where), tmp_path / "cache")
    no_git = ("it was exported without .git, so its commit is not known",) * (kind == "no git")
    assert after == before.model_copy(update={"notes": (*before.notes, *no_git, NOTE)})
    assert files_below(where / "tree") == FILES | (
        {"vllm_ascend/handler.py": "changed\n"} if kind == "dirty" else {}
    )


def test_a_branch_stays_at_the_commit_at_which_it_was_exported(tmp_path: Path) -> None:
    upstream = checkout(tmp_path / "upstream")
    first = commit(upstream)
    where = exported(f"git+file://{upstream}@main", tmp_path / "exported")
    second = commit(upstream)
    assert record_of(f"git+file://{upstream}@main", tmp_path / "cache").commit == second
    assert record_of(str(where), tmp_path / "cache").commit == first


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda folder: (folder / "tree/vllm_ascend/handler.py").write_text("other\n"), "not the files that"),
        (lambda folder: (folder / "tree/new.py").write_text(""), "not the files that"),
        (lambda folder: shutil.rmtree(folder / "tree"), "not the files that"),
        (lambda folder: (folder / "origin.json").write_text("{}"), "kind: Field required (and 6 more)"),
        (lambda folder: (folder / "origin.json").write_text("no"), "Invalid JSON"),
    ],
)
def test_what_was_changed_since_is_refused(tmp_path: Path, change, says: str) -> None:
    where = exported(str(checkout(tmp_path / "tree")), tmp_path / "exported")
    assert record_of(str(where), tmp_path / "cache").commit
    change(where)
    with pytest.raises(UsageError) as error:
        record_of(str(where), tmp_path / "cache")
    assert says in str(error.value)
    assert str(error.value).endswith("export it again: npu-assay build --export")


def test_what_can_not_be_exported_leaves_nothing(tmp_path: Path) -> None:
    folder, where = plant(tmp_path / "tree"), tmp_path / "exported"
    assert exported(str(folder), where)
    for source, to, says, error in (
        (str(folder), where, f"--export {where}: is there already", UsageError),
        (str(sdist(tmp_path / SDIST)), tmp_path / "a", "is one file already", UsageError),
        (str(where), tmp_path / "a", "is one already", UsageError),
        (str(tmp_path), tmp_path / "a", "no setup.py in it, so no vllm-ascend", UsageError),
        (str(folder), Path("/proc/none"), "can't write the folder: /proc/none", UnusableError),
    ):
        with pytest.raises(error, match=says):
            export_to(parse_location(source), to, tmp_path / "cache", print)
    assert not (tmp_path / "a").exists()
    assert parse_location(str(folder)) == Folder(folder)
