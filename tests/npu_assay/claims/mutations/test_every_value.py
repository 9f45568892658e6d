"""No value of a run's JSON files is changed or left out unnoticed, but for those that are known as such."""

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mutations.forged import Forged
from mutations.good import GOOD
from mutations.signature_only import LIES, UNJUDGED, Lie
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import verify
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import Manifest, read_manifest
from npu_assay.project import ROOT

GOOD_ONE = GOOD[0]
#: Of a long list or object; the others are alike.
MOST = 3
Path_ = tuple[str | int, ...]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return GOOD_ONE.make(tmp_path_factory.mktemp("good") / "run")


def entries(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Where every value is, the outer ones first."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        few = len(value) <= 20 or any(isinstance(inner, dict | list) for inner in value.values())
        items = list(value.items())[: None if few else MOST]
    elif isinstance(value, list):
        items = list(enumerate(value))[:MOST]
    for key, inner in items:
        yield (*path, key)
        yield from entries(inner, (*path, key))


def other(value: Any) -> Any:
    """Another value of the same type; of an object or list, nothing."""
    match value:
        case None:
            return "x"
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value / 2 + 1
        case str():
            return value[:-1] + ("1" if value.endswith("0") else "0")
    return type(value)()


def changed(document: Any, path: Path_, drop: bool) -> Any:
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if drop:
        del inner[path[-1]]
    else:
        inner[path[-1]] = other(inner[path[-1]])
    return document


@pytest.mark.parametrize(
    "name", ["manifest.json", "environment.json", "source/source.json", "cann/files.json"]
)
def test_no_value_is_changed_unnoticed(planted: Path, tmp_path: Path, name: str) -> None:
    document = json.loads((planted / name).read_bytes())
    known, unnoticed = UNJUDGED.get(name), []
    manifest = read_manifest(planted / "manifest.json")
    for path in entries(document):
        where = ".".join(map(str, path))
        for drop in (False, True):
            edited = changed(document, path, drop)
            if edited == document or path == ("schema_version",):  # which is 1 where it is left out
                continue
            forged = Forged.of(planted, tmp_path / "run", GOOD_ONE.checkout)
            forged.write(name, json.dumps(edited))
            same = name == "manifest.json" and _same(forged, manifest)
            forged.seal_sums()
            if not same and verify(forged.root, GOOD_ONE.mode, GOOD_ONE.checkout).result is Result.PASS:
                unnoticed.append(f"{'without' if drop else 'another'} {where}")
            shutil.rmtree(forged.root)
    assert [one for one in unnoticed if not (known and known.search(one))] == []


def _same(forged: Forged, manifest: Manifest) -> bool:
    """Whether what is left out is what it would be anyhow."""
    try:
        return read_manifest(Archive(forged.root).manifest) == manifest
    except UsageError:
        return False


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_what_only_a_signature_could_catch_is_in_the_documentation(tmp_path: Path, lie: Lie) -> None:
    good = lie.good
    forged = Forged.of(good.make(tmp_path / "good"), tmp_path / "run", good.checkout)
    lie.change(forged)
    assert verify(forged.root, good.mode, good.checkout).result is Result.FAIL
    forged.seal()
    assert verify(forged.root, good.mode, good.checkout).result is Result.PASS
    section = (ROOT / "docs/evidence.md").read_text().partition("## What only a signature could catch")[2]
    assert f"| {lie.name} |" in section
