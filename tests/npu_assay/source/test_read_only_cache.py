"""A cache that this user may only read, as an image has one: what is in it is taken, and nothing is added."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from other_user import as_another_user
from planted_source import FILES, checkout, commit, plant

from npu_assay.errors import AssayError
from npu_assay.source.location import parse_location
from npu_assay.source.tree import Wanted, make_tree


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may read; pytest's own are closed to them altogether."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def tree_or_error(source: str, cache: Path) -> str:
    try:
        tree = make_tree(Wanted(parse_location(source)), "0.18.0", cache, lambda line: None)
        return f"{tree.root} {tree.record.commit}"
    except AssayError as error:
        return f"exit {error.exit_code}: {error}"


def closed(cache: Path) -> None:
    """Nobody adds anything to these folders; root's files in them are root's."""
    for path in (cache, *cache.iterdir()):
        path.chmod(0o555)


def test_a_tree_that_is_there_is_found_and_another_is_exit_4(folder: Path) -> None:
    source, other, cache = (
        plant(folder / "tree"),
        plant(folder / "other", FILES | {"a.py": ""}),
        folder / "cache",
    )
    made = tree_or_error(str(source), cache)
    closed(cache)
    before = sorted(cache.rglob("*"))
    assert as_another_user(lambda: tree_or_error(str(source), cache)) == made
    said = as_another_user(lambda: tree_or_error(str(other), cache))
    assert said.startswith(f"exit 4: can't write the cache: {cache}/trees/")
    assert sorted(cache.rglob("*")) == before


def test_a_commit_that_was_fetched_is_read_and_another_is_an_error(folder: Path) -> None:
    upstream, cache = checkout(folder / "upstream"), folder / "cache"
    first, source = commit(upstream), f"git+file://{upstream}"
    made = tree_or_error(f"{source}@{first}", cache)
    assert made.endswith(first)
    second = commit(upstream, "second")
    closed(cache)
    assert as_another_user(lambda: tree_or_error(f"{source}@{first}", cache)) == made
    said = as_another_user(lambda: tree_or_error(f"{source}@{second}", cache))
    assert said.startswith(f"exit 2: --vllm-ascend {source}@{second}: ")
