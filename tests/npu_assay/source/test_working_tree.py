"""Exporting a folder: a git checkout's files as they stand, and a folder's without build left-overs."""

import os
import subprocess
from pathlib import Path

import pytest
from planted_source import FILES, checkout, commit, files_below, git, plant

from npu_assay.errors import UnusableError, UsageError
from npu_assay.source.working_tree import export_folder


def export(folder: Path, tmp_path: Path):
    """The origin and the files."""
    into = tmp_path / "out"
    into.mkdir()
    return export_folder(folder, into), files_below(into)


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every byte and time of a folder, git's own included."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_a_clean_checkout(tmp_path):
    folder = checkout(tmp_path / "tree")
    origin, files = export(folder, tmp_path)
    assert files == FILES
    assert (origin.kind, origin.dirty, origin.tag, origin.notes) == ("folder", False, "v0.18.0", ())
    assert origin.commit == git(folder, "rev-parse", "HEAD")
    assert os.access(tmp_path / "out/csrc/build.sh", os.X_OK)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda f: (f / "setup.py").write_text("x"), {"setup.py": "x"}),
        (lambda f: (f / "new.py").write_text("x"), {"new.py": "x"}),
        (lambda f: (f / "setup.py").unlink(), {"setup.py": None}),
        (lambda f: git(f, "mv", "setup.py", "b.py"), {"setup.py": None, "b.py": FILES["setup.py"]}),
        (lambda f: ((f / "b.py").write_text("x"), git(f, "add", "b.py")), {"b.py": "x"}),
        (lambda f: (f / "setup.py").chmod(0o755), {}),
        (lambda f: (f / "line\nbreak").write_text("x"), {"line\nbreak": "x"}),
    ],
    ids=["changed", "untracked", "deleted", "moved", "staged", "mode", "newline"],
)
def test_changes_are_taken_as_they_stand_and_said(tmp_path, change, expected):
    folder = checkout(tmp_path / "tree")
    change(folder)
    origin, files = export(folder, tmp_path)
    assert files == {name: text for name, text in (FILES | expected).items() if text is not None}
    assert origin.dirty is True


def test_what_git_ignores_is_left_out(tmp_path):
    folder = checkout(tmp_path / "tree", FILES | {".gitignore": "*.so\nbuild/\n", "kept.so": "tracked"})
    git(folder, "add", "--force", "kept.so")
    commit(folder)
    plant(folder, {"x.so": "x", "build/a.py": "x", "vllm_ascend/y.so": "x"})
    origin, files = export(folder, tmp_path)
    assert files == FILES | {".gitignore": "*.so\nbuild/\n", "kept.so": "tracked"}
    assert origin.dirty is False


def test_line_endings_and_filters_of_git_change_nothing(tmp_path):
    folder = checkout(tmp_path / "tree", FILES | {".gitattributes": "*.py text eol=crlf\n*.cpp ident\n"})
    (folder / "setup.py").write_bytes(b"a\r\nb\n")
    (folder / "csrc/ops.cpp").write_bytes(b"$Id$\n")
    _, files = export(folder, tmp_path)
    assert files["setup.py"] == "a\r\nb\n"
    assert files["csrc/ops.cpp"] == "$Id$\n"


def test_nothing_of_the_users_is_touched_and_nothing_of_it_is_run(tmp_path):
    folder = checkout(tmp_path / "tree")
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    hook.chmod(0o755)
    git(folder, "config", "core.fsmonitor", str(hook))
    git(folder, "config", "core.hooksPath", str(tmp_path))
    # Git would refresh the index now, whose times are old.
    os.utime(folder / "setup.py", (1, 1))
    before = state_of(folder)
    assert export(folder, tmp_path)[1] == FILES
    assert state_of(folder) == before
    assert not (tmp_path / "was-run").exists()


def test_variables_that_point_git_elsewhere_do_not(tmp_path, monkeypatch):
    folder, other = checkout(tmp_path / "tree"), checkout(tmp_path / "other", {"other": "x"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert export(folder, tmp_path)[1] == FILES


def test_a_worktree_and_a_read_only_checkout(tmp_path):
    folder = checkout(tmp_path / "tree")
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "second"), "-b", "second")
    (tmp_path / "second/new").write_text("x")
    origin, files = export(tmp_path / "second", tmp_path)
    assert files == FILES | {"new": "x"}
    assert origin.dirty is True
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    (tmp_path / "again").mkdir()
    assert export_folder(folder, tmp_path / "again").commit == origin.commit


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_checkout_of_another_owner(tmp_path):
    folder = checkout(tmp_path / "tree")
    assert subprocess.run(["chown", "-R", "65534", folder], check=True)
    assert export(folder, tmp_path)[1] == FILES


def test_submodules_that_are_checked_out_come_along_and_others_are_named(tmp_path):
    third = checkout(tmp_path / "third", {"a.h": "a", "b.h": "b"}, tag=None)
    folder = checkout(tmp_path / "tree")
    for name in ("csrc/third_party/one", "csrc/third_party/two"):
        git(folder, "submodule", "--quiet", "add", str(third), name)
    commit(folder)
    git(folder, "submodule", "--quiet", "deinit", "--force", "csrc/third_party/two")
    origin, files = export(folder, tmp_path)
    assert {name for name in files if "third_party" in name} == {
        "csrc/third_party/one/a.h",
        "csrc/third_party/one/b.h",
    }
    assert origin.notes == ("submodule csrc/third_party/two is not checked out",)
    assert origin.dirty is False
    (folder / "csrc/third_party/one/a.h").write_text("changed")
    (tmp_path / "again").mkdir()
    assert export_folder(folder, tmp_path / "again").dirty is True
    assert (tmp_path / "again/csrc/third_party/one/a.h").read_text() == "changed"


def test_a_folder_without_git_is_taken_without_what_builds_leave(tmp_path):
    folder = plant(tmp_path / "tree", FILES | {"csrc/build/kept.cmake": "x"})
    left = (
        "vllm_ascend/x.so",
        "build/a.py",
        "vllm_ascend.egg-info/PKG-INFO",
        "vllm_ascend/__pycache__/a.pyc",
    )
    plant(folder, dict.fromkeys(left, "x"))
    (folder / "link").symlink_to("setup.py")
    (folder / "linked").symlink_to("vllm_ascend")
    origin, _ = export(folder, tmp_path)
    assert (origin.commit, origin.dirty, origin.tag) == (None, None, None)
    names = {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if not path.is_dir()
    }
    assert names - {"link", "csrc/build/kept.cmake"} == set(FILES)
    assert (tmp_path / "out/link").readlink() == Path("setup.py")
    assert (tmp_path / "out/linked").readlink() == Path("vllm_ascend")


@pytest.mark.parametrize("target", ["/etc/passwd", "../other"])
def test_links_out_of_the_folder_are_refused(tmp_path, target):
    folder = checkout(tmp_path / "tree")
    (folder / "good").symlink_to("setup.py")
    assert "good" in export(folder, tmp_path)[1]
    (folder / "bad").symlink_to(target)
    (tmp_path / "again").mkdir()
    with pytest.raises(
        UsageError, match=rf"--vllm-ascend {folder}: bad: a link to {target}, outside of the tree"
    ):
        export_folder(folder, tmp_path / "again")


def test_a_link_in_the_place_of_a_tracked_folder_is_a_link(tmp_path):
    folder = checkout(tmp_path / "tree")
    (folder / "csrc").rename(folder / "native")
    (folder / "csrc").symlink_to("native")
    _, files = export(folder, tmp_path)
    assert {name for name in files if name.startswith("native/")} == {"native/ops.cpp", "native/build.sh"}
    assert (tmp_path / "out/csrc").readlink() == Path("native")
    (folder / "native").rename(tmp_path / "outside")
    (folder / "csrc").unlink()
    (folder / "csrc").symlink_to(tmp_path / "outside")
    (tmp_path / "again").mkdir()
    with pytest.raises(UsageError, match=r"csrc: a link to .*outside, outside of the tree"):
        export_folder(folder, tmp_path / "again")


def test_a_git_that_does_not_answer_is_one_line(tmp_path):
    folder = checkout(tmp_path / "tree")
    assert export(folder, tmp_path)[1] == FILES
    (folder / ".git/HEAD").write_text("nonsense")
    (tmp_path / "again").mkdir()
    with pytest.raises(UsageError, match=r"its git does not answer: .*; mend it, or remove .*\.git") as error:
        export_folder(folder, tmp_path / "again")
    assert "\n" not in str(error.value)


def test_a_repository_without_a_commit_is_told_apart(tmp_path):
    folder = checkout(tmp_path / "tree")
    assert export(folder, tmp_path)[1] == FILES
    git(folder, "checkout", "--quiet", "--orphan", "new")
    (tmp_path / "again").mkdir()
    with pytest.raises(
        UsageError, match=r"Needed a single revision; commit what is there, or remove .*\.git"
    ):
        export_folder(folder, tmp_path / "again")


def test_without_git_a_checkout_is_not_guessed_at(tmp_path, monkeypatch):
    folder = checkout(tmp_path / "tree")
    assert export(folder, tmp_path)[1] == FILES
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "again").mkdir()
    with pytest.raises(UnusableError, match="git is not on PATH; install it: apt-get install git"):
        export_folder(folder, tmp_path / "again")
    assert export_folder(plant(tmp_path / "plain"), tmp_path / "again").commit is None
