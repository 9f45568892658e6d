"""git+URL@REF: branches, tags and commits, offline when they were fetched, else one line that says why."""

import os
import subprocess
from pathlib import Path

import pytest
from planted_source import FILES, checkout, commit, files_below, git

from npu_assay.errors import UsageError
from npu_assay.source.location import GitRef, Url, parse_location
from npu_assay.source.repository import Repository, export_ref


@pytest.fixture
def upstream(tmp_path) -> Path:
    """Somebody's repository: two commits on main, a tag on the first, a branch with a slash."""
    folder = checkout(tmp_path / "upstream")
    git(folder, "branch", "feature/x")
    (folder / "second.py").write_text("x")
    commit(folder, "second")
    return folder


class Exports:
    """Exports one ref after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.said: list[str] = []
        self.count = 0

    def ref(self, text: str):
        self.count += 1
        into = self.folder / f"out{self.count}"
        into.mkdir()
        location = parse_location(text)
        assert isinstance(location, GitRef)
        self.said.clear()
        return export_ref(location, into, self.cache, self.said.append), files_below(into)


@pytest.fixture
def exports(tmp_path) -> Exports:
    return Exports(tmp_path)


SECOND = FILES | {"second.py": "x"}


@pytest.mark.parametrize(
    ("ref", "files"), [("main", SECOND), ("v0.18.0", FILES), ("feature/x", FILES), ("HEAD", SECOND)]
)
def test_branches_and_tags(upstream, exports, ref, files):
    origin, found = exports.ref(f"git+file://{upstream}@{ref}")
    assert found == files
    assert origin.kind == "git"
    assert origin.commit == git(upstream, "rev-parse", ref)
    assert (origin.dirty, origin.tag, origin.notes) == (False, "v0.18.0", ())
    assert os.access(exports.folder / "out1/csrc/build.sh", os.X_OK)
    assert exports.said == [f"fetching file://{upstream}"]


def test_a_commit_is_asked_for_once_and_a_branch_each_time(upstream, exports):
    first = git(upstream, "rev-parse", "v0.18.0^{commit}")
    for _ in range(2):
        assert exports.ref(f"git+file://{upstream}@{first}")[1] == FILES
    assert exports.said == []
    assert exports.ref(f"git+file://{upstream}@main")[1] == SECOND
    (upstream / "third.py").write_text("x")
    git(upstream, "tag", "--force", "v0.18.0", commit(upstream))
    assert exports.ref(f"git+file://{upstream}@main")[1] == SECOND | {"third.py": "x"}
    assert exports.ref(f"git+file://{upstream}@v0.18.0")[1] == SECOND | {"third.py": "x"}
    assert exports.ref(f"git+file://{upstream}@{first}")[1] == FILES


def test_what_was_fetched_is_there_without_network_and_a_branch_says_so(upstream, exports):
    first = git(upstream, "rev-parse", "v0.18.0^{commit}")
    exports.ref(f"git+file://{upstream}@main")
    upstream.rename(upstream.with_name("gone"))
    assert exports.ref(f"git+file://{upstream}@{first}")[0].notes == ()
    origin, files = exports.ref(f"git+file://{upstream}@main")
    assert files == SECOND
    (note,) = origin.notes
    assert note.endswith("): main is as it was when it was fetched last")
    with pytest.raises(
        UsageError, match="name a repository that git can fetch from here, or a folder"
    ) as error:
        exports.ref(f"git+file://{upstream}@never-seen")
    assert "\n" not in str(error.value)


def test_head_is_asked_for_each_time_and_a_branch_that_went_is_an_error(upstream, exports):
    for name in ("HEAD", "feature/x"):
        assert exports.ref(f"git+file://{upstream}@{name}")[0].commit == git(upstream, "rev-parse", name)
    git(upstream, "checkout", "--quiet", "-b", "master")
    (upstream / "third.py").write_text("x")
    commit(upstream)
    git(upstream, "checkout", "--quiet", "main")
    assert exports.ref(f"git+file://{upstream}@HEAD")[1] == SECOND
    (upstream / "fourth.py").write_text("x")
    assert exports.ref(f"git+file://{upstream}@HEAD")[0].commit != commit(upstream)
    assert exports.ref(f"git+file://{upstream}@HEAD")[1] == SECOND | {"fourth.py": "x"}
    git(upstream, "branch", "-D", "feature/x")
    with pytest.raises(UsageError, match="name a branch, a tag or a full commit id that it has"):
        exports.ref(f"git+file://{upstream}@feature/x")


def test_a_commit_that_no_branch_has_and_a_pull_request(upstream, exports):
    git(upstream, "checkout", "--quiet", "--detach")
    (upstream / "pull.py").write_text("x")
    pull = commit(upstream)
    git(upstream, "update-ref", "refs/pull/7/head", pull)
    git(upstream, "checkout", "--quiet", "main")
    (upstream / "later.py").write_text("x")
    commit(upstream)
    assert exports.ref(f"git+file://{upstream}@pull/7/head")[0].commit == pull
    git(upstream, "update-ref", "-d", "refs/pull/7/head")
    git(upstream, "config", "uploadpack.allowAnySHA1InWant", "true")
    other = Exports(exports.folder / "other")
    other.folder.mkdir()
    assert other.ref(f"git+file://{upstream}@{pull}")[1] == SECOND | {"pull.py": "x"}
    assert other.ref(f"git+file://{upstream}@main")[1] == SECOND | {"later.py": "x"}
    assert other.ref(f"git+file://{upstream}@{pull}")[0].commit == pull


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        ("nope", "name a branch, a tag or a full commit id that it has"),
        ("0" * 40, "that it has"),
        ("abc1", "that it has"),
    ],
)
def test_a_ref_that_is_not_there_is_one_line(upstream, exports, ref, says):
    exports.ref(f"git+file://{upstream}@main")
    with pytest.raises(UsageError) as error:
        exports.ref(f"git+file://{upstream}@{ref}")
    assert str(error.value).startswith(f"--vllm-ascend git+file://{upstream}@{ref}: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_attributes_and_line_endings_of_a_commit_change_nothing(tmp_path, exports):
    upstream = checkout(tmp_path / "upstream", FILES)
    (upstream / ".gitattributes").write_text(
        "*.py text eol=crlf\ntests export-ignore\nsetup.py export-subst\n"
    )
    commit(upstream)
    _, files = exports.ref(f"git+file://{upstream}@main")
    assert files["setup.py"] == FILES["setup.py"]
    assert "tests/ut/test_handler.py" in files


def test_submodules_come_along_and_one_that_can_not_be_had_is_a_note(tmp_path, exports):
    third = checkout(tmp_path / "third", {"a.h": "a"}, tag=None)
    upstream = checkout(tmp_path / "upstream")
    git(upstream, "submodule", "--quiet", "add", str(third), "csrc/third_party/one")
    git(upstream, "config", "--file", ".gitmodules", "submodule.csrc/third_party/one.url", "../third")
    commit(upstream)
    origin, files = exports.ref(f"git+file://{upstream}@main")
    assert files["csrc/third_party/one/a.h"] == "a"
    assert origin.notes == ()
    for url, says in (
        (f"file://{tmp_path}/gone", "is not there: "),
        ("ext::touch was-run", "expected one of https://"),
        ("https://127.0.0.1:9/x", "is not there: "),
        (f"file://{upstream}", "it is the repository itself"),
    ):
        git(upstream, "config", "--file", ".gitmodules", "submodule.csrc/third_party/one.url", url)
        commit(upstream)
        origin, files = exports.ref(f"git+file://{upstream}@main")
        assert files["setup.py"] == FILES["setup.py"]
        assert "csrc/third_party/one/a.h" not in files
        (note,) = origin.notes
        assert note.startswith("submodule csrc/third_party/one is not there: ")
        assert says in note


def test_a_strangers_repository_does_not_name_files_of_this_machine(tmp_path, exports, monkeypatch):
    """Its .gitmodules is its author's; a submodule of this machine would end up in an archive."""
    third = checkout(tmp_path / "third", {"a.h": "a"}, tag=None)
    upstream = checkout(tmp_path / "upstream")
    git(upstream, "submodule", "--quiet", "add", str(third), "one")
    git(upstream, "config", "--file", ".gitmodules", "submodule.one.url", f"file://{third}")
    commit(upstream)
    assert exports.ref(f"git+file://{upstream}@main")[1]["one/a.h"] == "a"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{upstream}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://stranger/x")
    origin, files = exports.ref("git+https://stranger/x@main")
    assert "one/a.h" not in files
    assert "is a file of this machine, and its repository is not" in origin.notes[0]


def test_credentials_stay_in_no_file_and_no_message(exports):
    with pytest.raises(UsageError) as error:
        exports.ref("git+https://me:secret@127.0.0.1:9/x@main")
    assert "secret" not in str(error.value)
    assert "127.0.0.1" in str(error.value)
    with pytest.raises(UsageError) as error:
        exports.ref("git+https://127.0.0.1:9/x?token=secret@main")
    assert "secret" not in str(error.value)
    kept = [path for path in exports.cache.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert kept == []


def test_a_password_is_sent_and_is_in_no_command_line(exports, tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    real = subprocess.run(
        ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
    ).stdout.strip()
    fake.write_text(
        f'#!/bin/sh\necho "args: $*" >> {seen}\n'
        f'env | grep GIT_CONFIG_ | sed "s/^/env: /" >> {seen}\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.delenv("GIT_CONFIG_COUNT", raising=False)
    with pytest.raises(UsageError):
        exports.ref("git+http://me:secret@127.0.0.1:9/x@main")
    lines = seen.read_text().splitlines()
    assert any(line.startswith("env: GIT_CONFIG_KEY_0=url.http://me:secret@") for line in lines)
    assert not any("secret" in line for line in lines if line.startswith("args: "))


def test_two_addresses_have_two_folders_and_credentials_make_no_third(tmp_path):
    def folder(public: str, private: str) -> Path:
        return Repository(tmp_path, Url(public, private)).folder

    assert folder("https://h/x", "https://h/x") == folder("https://h/x", "https://me:secret@h/x")
    assert folder("https://h/x", "https://h/x") != folder("https://h/y", "https://h/y")
