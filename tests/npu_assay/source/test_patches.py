"""Patches as git makes them apply to the byte; what does not is named with its file, hunk and way out."""

import subprocess

import pytest
from planted_source import FILES, checkout, commit, files_below, git, plant

from npu_assay.errors import UnusableError, UsageError
from npu_assay.source.hunks import hunks_of
from npu_assay.source.listing import list_tree
from npu_assay.source.patches import apply_patches, read_patches

HANDLER = "vllm_ascend/handler.py"


@pytest.fixture
def repository(tmp_path):
    """A checkout to make patches in."""
    return checkout(tmp_path / "repository")


@pytest.fixture
def tree(tmp_path):
    return plant(tmp_path / "tree")


def diff(repository, change, *options):
    """`git diff` of a change, as a file beside the checkout."""
    change(repository)
    git(repository, "add", "--all")
    path = repository.parent / "one.patch"
    with path.open("wb") as out:
        command = [
            "git",
            "-C",
            repository,
            "-c",
            "core.quotepath=on",
            "diff",
            "--cached",
            "--binary",
            *options,
        ]
        subprocess.run(command, stdout=out, check=True)
    return path


def edit(line, text="changed\n", name=HANDLER):
    """Replace one line of a file."""

    def change(folder):
        lines = (folder / name).read_bytes().decode().splitlines(keepends=True)
        lines[line - 1] = text
        (folder / name).write_bytes("".join(lines).encode())

    return change


CHANGES = {
    "one line": edit(5),
    "two hunks": lambda f: (edit(3)(f), edit(30)(f)),
    "no newline at the end": edit(40, "the end"),
    "crlf": edit(5, "dos\r\n"),
    "new file": lambda f: (f / "vllm_ascend/new.py").write_text("new\n"),
    "new empty file": lambda f: (f / "vllm_ascend/new.py").touch(),
    "deleted": lambda f: (f / HANDLER).unlink(),
    "renamed": lambda f: (f / HANDLER).rename(f / "vllm_ascend/other.py"),
    "mode": lambda f: (f / HANDLER).chmod(0o755),
    "binary": lambda f: (f / "vllm_ascend/x.bin").write_bytes(bytes(range(256))),
    "odd name": lambda f: (f / 'vllm_ascend/a "b"\té.py').write_text("x\n"),
    "a line that looks like a header": edit(5, "-- a/x\n++ b/x\n@@ -1 +1 @@\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("form", ["diff", "format-patch", "renames"])
def test_what_git_makes_applies_to_the_byte(repository, tree, tmp_path, change, form):
    if form == "format-patch":
        change(repository)
        commit(repository, "a change\n\n--- a/not/a/header\n")
        git(
            repository,
            "format-patch",
            "--quiet",
            "-1",
            "--binary",
            "--output-directory",
            str(tmp_path / "patches"),
        )
        patches = read_patches([tmp_path / "patches"])
    else:
        patches = read_patches([diff(repository, change, *["--find-renames"] * (form == "renames"))])
    listing = apply_patches(patches, tree)
    assert listing == list_tree(tree)
    wanted = repository.parent / "wanted"
    wanted.mkdir()
    git(repository, "checkout-index", "--all", f"--prefix={wanted}/")
    assert list_tree(tree) == list_tree(wanted)


def test_crlf_files_keep_their_ends(tmp_path):
    text = FILES[HANDLER].replace("\n", "\r\n")
    repository = checkout(tmp_path / "repository", FILES | {HANDLER: text})
    tree = plant(tmp_path / "tree", FILES | {HANDLER: text})
    patches = read_patches([diff(repository, edit(5, "changed\r\n"))])
    apply_patches(patches, tree)
    assert (tree / HANDLER).read_bytes() == text.replace("line 5\r", "changed\r").encode()
    with pytest.raises(UsageError, match=f"does not apply to {HANDLER}, hunk 1: @@ -2,7 "):
        apply_patches(patches, plant(tmp_path / "unix"))


def test_patches_are_applied_in_order_and_lines_may_have_moved(repository, tree, tmp_path):
    folder = tmp_path / "patches"
    folder.mkdir()
    for number, change in enumerate(
        (edit(5, "one\n"), edit(5, "two\nand more\n"), edit(30, "three\n")), start=1
    ):
        change(repository)
        with (folder / f"{number}.patch").open("wb") as out:
            subprocess.run(["git", "-C", repository, "diff"], stdout=out, check=True)
        commit(repository)
    (folder / "README").write_text("no patch")
    patches = read_patches([folder])
    assert [patch.path.name for patch in patches] == ["1.patch", "2.patch", "3.patch"]
    (tree / HANDLER).write_text("moved down\n" + FILES[HANDLER])
    apply_patches(patches, tree)
    assert (tree / HANDLER).read_text() == "moved down\n" + (repository / HANDLER).read_text()
    with pytest.raises(UsageError, match=r"--patch .*/2\.patch: does not apply to"):
        apply_patches(patches[1:], plant(tmp_path / "second"))


def test_a_series_says_which_and_how(repository, tree, tmp_path):
    folder = tmp_path / "patches"
    folder.mkdir()
    diff(repository, edit(5)).rename(folder / "z.patch")
    text = (folder / "z.patch").read_text().replace("a/vllm", "a/b/vllm").replace("b/vllm", "b/vllm")
    (folder / "z.patch").write_text(text.replace("+++ b/", "+++ b/b/"))
    (folder / "a.patch").write_text("not in the series")
    (folder / "series").write_text("# quilt's\n\nz.patch -p2 # comment\n")
    (patch,) = read_patches([folder])
    assert (patch.path.name, patch.strip) == ("z.patch", 2)
    apply_patches([patch], tree)
    assert "changed\n" in (tree / HANDLER).read_text()


@pytest.mark.parametrize(
    ("series", "says"),
    [
        ("../z.patch\n", r"series:1: expected a patch of this folder"),
        ("/z.patch\n", r"series:1: expected a patch of this folder"),
        ("\nz.patch -R\n", r"series:2: expected a patch of this folder, and -pN or nothing: 'z.patch -R'"),
        ("# nothing\n", r"series: names no patch"),
        ("gone.patch\n", r"gone\.patch: can't be read: No such file"),
    ],
)
def test_a_series_that_is_wrong_is_named_by_line(repository, tmp_path, series, says):
    folder = tmp_path / "patches"
    folder.mkdir()
    diff(repository, edit(5)).rename(folder / "z.patch")
    (folder / "series").write_text("z.patch\n")
    assert len(read_patches([folder])) == 1
    (folder / "series").write_text(series)
    with pytest.raises(UsageError, match=says):
        read_patches([folder])


@pytest.mark.parametrize("content", ["", "\n \n", None])
def test_patches_that_are_empty_or_not_there(repository, tmp_path, content):
    good = diff(repository, edit(5))
    assert read_patches([good])
    bad = tmp_path / "bad.patch"
    if content is not None:
        bad.write_text(content)
    with pytest.raises(UsageError, match=r"--patch .*bad\.patch: (empty; make it again|can't be read)"):
        read_patches([good, bad])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"--patch .*empty: no series and no \*\.patch or \*\.diff in it"):
        read_patches([tmp_path / "empty"])


BAD = {
    "another hunk": (
        lambda text: text.replace(" line 29", " line 99"),
        f"does not apply to {HANDLER}, hunk 2: @@ -27,7 +27,7 @@ line 26: its context is not there; make it",
    ),
    "another file": (
        lambda text: text.replace("handler.py", "nothing.py"),
        "does not apply: vllm_ascend/nothing.py: No such file or directory; make it again",
    ),
    "climbing": (
        lambda text: text.replace("vllm_ascend/handler.py", "../handler.py"),
        "does not apply: invalid path '../handler.py'; make it again",
    ),
    "git's own": (
        lambda text: "--- /dev/null\n+++ b/.git/config\n@@ -0,0 +1 @@\n+evil\n",
        "does not apply: invalid path '.git/config'",
    ),
    "corrupt": (lambda text: text.replace(" line 28\n", ""), "does not apply: corrupt patch at "),
    "words": (lambda text: "Dear maintainers,\n", "no patch in it; make it again"),
}


@pytest.mark.parametrize(("spoil", "says"), BAD.values(), ids=BAD)
def test_a_patch_that_does_not_apply_names_file_and_hunk_and_changes_nothing(
    repository, tree, tmp_path, spoil, says
):
    good = diff(repository, lambda f: (edit(3)(f), edit(30)(f)))
    text = good.read_text()
    apply_patches(read_patches([good]), plant(tmp_path / "first"))
    good.write_text(spoil(text))
    (tree.parent / "handler.py").write_text(FILES[HANDLER])
    with pytest.raises(UsageError) as error:
        apply_patches(read_patches([good]), tree)
    assert f"--patch {good}: {says}" in str(error.value)
    assert "\n" not in str(error.value)
    assert files_below(tree) == FILES
    assert (tree.parent / "handler.py").read_text() == FILES[HANDLER]


def test_a_patch_through_a_link_or_to_the_outside_is_refused(repository, tree, tmp_path):
    (tmp_path / "outside").mkdir()
    (repository / "out").symlink_to("../outside")
    path = diff(repository, lambda f: None)
    with pytest.raises(UsageError, match=r"--patch .*: out: a link to \.\./outside, outside of the tree"):
        apply_patches(read_patches([path]), tree)
    (tree / "out").unlink()
    (tree / "inside").symlink_to("vllm_ascend")
    path.write_text("--- /dev/null\n+++ b/inside/evil.py\n@@ -0,0 +1 @@\n+evil\n")
    with pytest.raises(UsageError, match="beyond a symbolic link"):
        apply_patches(read_patches([path]), tree)
    assert not list(tmp_path.rglob("evil.py"))


def test_a_repository_above_the_tree_changes_nothing(repository, tmp_path):
    path = diff(repository, edit(5))
    above = checkout(tmp_path / "above")
    tree = plant(above / "deep" / "tree")
    apply_patches(read_patches([path]), tree)
    assert "changed\n" in (tree / HANDLER).read_text()


def test_a_patch_that_changes_nothing_is_named(repository, tree, tmp_path):
    there = diff(repository, edit(5))
    apply_patches(read_patches([there]), tree)
    same = tmp_path / "same.patch"
    same.write_text("--- a/setup.py\n+++ b/setup.py\n@@ -2 +2 @@\n-setup()\n+setup()\n")
    with pytest.raises(UsageError, match=r"same\.patch: changes nothing in the tree; leave it out"):
        apply_patches(read_patches([same]), tree)


def test_a_patch_that_the_tree_has_already_is_told_from_one_that_does_not_fit(repository, tree):
    patches = read_patches([diff(repository, edit(5))])
    listing = apply_patches(patches, tree)
    with pytest.raises(UsageError, match=r"--patch .*one\.patch: is in this tree already; leave it out"):
        apply_patches(patches, tree)
    assert list_tree(tree) == listing


def test_without_git_the_package_is_named(repository, tree, tmp_path, monkeypatch):
    patches = read_patches([diff(repository, edit(5))])
    apply_patches(patches, plant(tmp_path / "first"))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnusableError, match="git is not on PATH; install it: apt-get install git"):
        apply_patches(patches, tree)


def test_hunks_are_counted_by_file_and_content_is_no_header():
    patch = (
        b"From 123\nSubject: x\n\n@@ -9 +9 @@ in a mail\n---\n a | 2 +-\n\n"
        b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        b"@@ -1,2 +1,2 @@ def f():\n--- a/no.py\n+++ b/no.py\n x\n"
        b"@@ -9 +9 @@\n-a\n+b\n\\ No newline at end of file\n"
        b"--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+@@ -5 +5 @@\n--\n2.39\n"
    )
    found = [(hunk.file, hunk.number, hunk.old_line, hunk.header) for hunk in hunks_of(patch)]
    assert found[-3:] == [
        ("a.py", 1, 1, "@@ -1,2 +1,2 @@ def f():"),
        ("a.py", 2, 9, "@@ -9 +9 @@"),
        ("/dev/null", 1, 0, "@@ -0,0 +1 @@"),
    ]
