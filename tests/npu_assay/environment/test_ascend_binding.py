"""vllm-ascend's module made again: which file it takes the place of, and what is on record."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest

from npu_assay.environment.ascend_binding import (
    RECORD_NAME,
    rebuilt_files,
    wheel_module,
)
from npu_assay.environment.environment import Environment
from npu_assay.errors import UnusableError


@pytest.mark.parametrize(
    ("files", "says"), [(["m.cpython-311.so"], None), ([], "0"), (["m.a.so", "m.b.so"], "2")]
)
def test_the_module_to_replace_is_found_by_its_name(
    tmp_path: Path, files: list[str], says: str | None
) -> None:
    package = tmp_path / "vllm_ascend"
    package.mkdir()
    for name in ("other.so", *files):
        (package / name).touch()
    if says is None:
        assert wheel_module(tmp_path, "m") == package / files[0]
    else:
        with pytest.raises(UnusableError, match=rf"expected one m\.\*\.so to rebuild, found {says}; install"):
            wheel_module(tmp_path, "m")


def test_an_installation_that_made_nothing_has_nothing_to_name(tmp_path: Path) -> None:
    assert rebuilt_files(tmp_path) == {}


@pytest.mark.environment
@pytest.mark.xdist_group("torch210")
def test_what_was_replaced_is_written_down(torch210: Environment) -> None:
    site = torch210.site_packages
    [note] = site.glob(f"vllm_ascend-*.dist-info/{RECORD_NAME}")
    facts = json.loads(note.read_text())
    library, kept = site / facts["library"], torch210.root / "replaced" / Path(facts["library"]).name
    sums = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in (library, kept, note)}
    assert (facts["sha256"], facts["wheel_sha256"]) == (sums[library], sums[kept])
    assert facts["sha256"] != facts["wheel_sha256"]
    assert facts["torch"] == torch210.variant.versions["torch"]
    assert facts["sdist_sha256"] == torch210.variant.component("vllm-ascend").sha256["sdist"]
    stamp = json.loads((torch210.root / "steps" / "vllm-ascend.json").read_text())
    assert stamp["rebuilt"] == facts
    assert rebuilt_files(site) == {facts["library"]: facts["sha256"]}  # what the manifest of a run says
    rows = {row[0]: row[2] for row in csv.reader(io.StringIO((note.parent / "RECORD").read_text()))}
    for path in (library, note):
        assert rows[path.relative_to(site).as_posix()] == str(path.stat().st_size)
