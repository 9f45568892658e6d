import os
import subprocess
from pathlib import Path

import pytest

from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive, check, create_archive, open_archive, seal


@pytest.fixture
def archive(tmp_path) -> Archive:
    """A sealed archive with a log, an empty log and a result."""
    archive = create_archive(tmp_path / "run")
    archive.manifest.write_text("{}")
    archive.stage_log("unit").write_bytes(b"one\r\ntwo\x1b[0m")
    archive.stage_log("compileall").write_bytes(b"")
    (archive.results / "rounds.jsonl").write_text('{"run": 1}\n')
    archive.work.rmdir()
    seal(archive)
    return archive


def test_a_sealed_archive_checks_here_and_with_coreutils(archive):
    assert check(archive) == []
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=archive.root, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.count(": OK")) == (0, 4), done.stderr


def test_statement_and_reports_may_come_after_the_seal_but_only_at_the_root(archive):
    for name in ("statement.intoto.json", "report.html", "report.md"):
        (archive.root / name).write_text("derived")
    assert check(archive) == []
    (archive.results / "report.md").write_text("not derived")
    assert [str(problem) for problem in check(archive)] == ["results/report.md: not in SHA256SUMS"]


def test_any_one_changed_byte_is_found_by_name(archive):
    assert check(archive) == []
    for name in ("manifest.json", "stages/unit.log", "results/rounds.jsonl"):
        path = archive.root / name
        good = path.read_bytes()
        for position in range(len(good)):
            path.write_bytes(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
            assert [problem.name for problem in check(archive)] == [name]
        path.write_bytes(good)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda root: (root / "stages/unit.log").unlink(), "stages/unit.log: in SHA256SUMS, but missing"),
        (lambda root: (root / "stages/extra.log").write_text(""), "stages/extra.log: not in SHA256SUMS"),
        (lambda root: (root / "stages/compileall.log").write_text("\n"), "stages/compileall.log: changed"),
        (lambda root: (root / "link").symlink_to("manifest.json"), "link: not a regular file"),
        (lambda root: to_link(root / "stages/unit.log"), "stages/unit.log: not a regular file"),
    ],
    ids=["missing", "extra", "grown", "link", "file replaced by a link to the same bytes"],
)
def test_damage_is_named(archive, damage, problem):
    assert check(archive) == []
    damage(archive.root)
    assert len(found := check(archive)) == 1
    assert str(found[0]).startswith(problem)


def to_link(path: Path) -> None:
    path.rename(path.parents[2] / "elsewhere")
    path.symlink_to(path.parents[2] / "elsewhere")


def test_what_cant_be_read_is_named(archive, monkeypatch):
    """Root may read everything, so the refusal is put in its place."""
    assert check(archive) == []
    real = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith("unit.log"):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    assert [str(found) for found in check(archive)] == ["stages/unit.log: can't be read (Permission denied)"]
    with pytest.raises(PermissionError):
        seal(archive)


def test_a_seal_refuses_what_is_no_regular_file(archive):
    seal(archive)
    (archive.root / "link").symlink_to("/etc/hostname")
    with pytest.raises(AssayError, match="link: an archive holds regular files only"):
        seal(archive)


def test_create_refuses_a_folder_in_use_and_an_unwritable_one(tmp_path):
    create_archive(tmp_path / "new" / "nested")
    (tmp_path / "file").write_text("")
    for root, message in [
        (tmp_path / "new", "not empty"),
        (tmp_path / "file" / "under", "no archive can be written here"),
        (tmp_path / "file", "no archive can be written here"),
        (Path("/proc/npu-assay"), "no archive can be written here"),
    ]:
        with pytest.raises(UsageError, match=message):
            create_archive(root)


def test_open_refuses_what_is_no_archive(archive, tmp_path):
    assert open_archive(archive.root).root == archive.root
    with pytest.raises(UsageError, match="no such folder"):
        open_archive(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        open_archive(tmp_path)
