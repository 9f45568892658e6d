"""Repositories that are carried to a machine without network."""

import shutil
from pathlib import Path

import pytest
from planted_source import FILES, checkout, commit, files_below, git

from npu_assay.errors import UsageError
from npu_assay.source.location import GitRef, parse_location
from npu_assay.source.offline import gather_commit, take_repositories
from npu_assay.source.repository import export_ref


def quiet(line: str) -> None:
    pass


def ref_of(upstream: Path, name: str) -> GitRef:
    location = parse_location(f"git+file://{upstream}@{name}")
    assert isinstance(location, GitRef)
    return location


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A repository with a submodule beside it."""
    third = checkout(tmp_path / "third", {"a.h": "a"}, tag=None)
    upstream = checkout(tmp_path / "upstream")
    git(upstream, "submodule", "--quiet", "add", str(third), "csrc/third_party/one")
    git(upstream, "config", "--file", ".gitmodules", "submodule.csrc/third_party/one.url", "../third")
    commit(upstream)
    return upstream


def test_a_commit_is_carried_with_its_submodules(tmp_path: Path, upstream: Path) -> None:
    ref = ref_of(upstream, git(upstream, "rev-parse", "HEAD"))
    carried, cache = tmp_path / "carried", tmp_path / "cache"
    assert gather_commit(ref, carried, quiet) == ()
    assert [path.name for path in carried.iterdir()] == ["repositories"]
    for folder in ("upstream", "third"):
        shutil.rmtree(tmp_path / folder)
    assert gather_commit(ref, carried, quiet) == ()  # nobody is asked again

    (tmp_path / "before").mkdir()
    with pytest.raises(UsageError, match="upstream"):
        export_ref(ref, tmp_path / "before", cache, quiet)
    take_repositories(carried, cache, quiet)
    (tmp_path / "after").mkdir()
    assert export_ref(ref, tmp_path / "after", cache, quiet).notes == ()
    found = files_below(tmp_path / "after")
    assert {name: found[name] for name in FILES} == FILES
    assert found["csrc/third_party/one/a.h"] == "a"


def test_what_is_missing_is_told(tmp_path: Path, upstream: Path) -> None:
    commit_id = git(upstream, "rev-parse", "HEAD")
    assert gather_commit(ref_of(upstream, commit_id), tmp_path / "whole", quiet) == ()
    shutil.rmtree(tmp_path / "third")
    (note,) = gather_commit(ref_of(upstream, commit_id), tmp_path / "part", quiet)
    assert note.startswith("submodule csrc/third_party/one is not there: ")
    with pytest.raises(UsageError, match="name a branch, a tag or a full commit id that it has"):
        gather_commit(ref_of(upstream, "0" * 40), tmp_path / "part", quiet)


def test_a_damaged_repository_is_named_and_a_half_made_one_is_passed_over(
    tmp_path: Path, upstream: Path
) -> None:
    carried = tmp_path / "carried"
    gather_commit(ref_of(upstream, "main"), carried, quiet)
    take_repositories(carried, tmp_path / "cache", quiet)
    first, second = sorted((carried / "repositories").glob("*.git"))
    (first / "complete.json").unlink()
    take_repositories(carried, tmp_path / "another", quiet)
    assert [path.name for path in (tmp_path / "another" / "repositories").glob("*.git")] == [second.name]
    shutil.rmtree(second / "objects")
    with pytest.raises(UsageError, match=f"{second}: .*; remove it, and fetch it again"):
        take_repositories(carried, tmp_path / "a third", quiet)


def test_a_folder_without_any_is_none_to_take_from(tmp_path: Path) -> None:
    take_repositories(tmp_path, tmp_path / "cache", quiet)
    assert not (tmp_path / "cache").exists()
