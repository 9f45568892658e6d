"""The listing: sha256sum checks it, it is read back, and it covers names, bytes, modes and links."""

import os
import socket
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_source import FILES, plant

from npu_assay.errors import UsageError
from npu_assay.source.listing import Listing, list_tree, parse_listing

_PART = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=6
).filter(lambda part: part not in (".", "..") and len(part.encode()) < 200)
_NAME = st.lists(_PART, min_size=1, max_size=3).map("/".join)
_SHA = st.text("0123456789abcdef", min_size=64, max_size=64)


@given(st.dictionaries(_NAME, _SHA), st.dictionaries(_NAME, _NAME), st.data())
def test_what_is_written_is_read_back(files, links, data):
    executables = data.draw(st.sets(st.sampled_from(sorted(files)))) if files else set()
    listing = Listing(files, frozenset(executables), links)
    read = parse_listing(listing.data, "x")
    assert read == listing
    assert read.sha256 == listing.sha256


def test_sha256sum_checks_it_and_the_order_of_the_disk_does_not_matter(tmp_path):
    tree = plant(tmp_path / "tree", FILES | {"odd\n\\na\rme": "x", "#x": "", "- -> -": "y"})
    (tree / "link").symlink_to("csrc/ops.cpp")
    listing = list_tree(tree)
    assert listing.executables == {"csrc/build.sh"}
    assert listing.links == {"link": "csrc/ops.cpp"}
    (tmp_path / "sums").write_bytes(listing.data)
    command = ["sha256sum", "--check", "--strict", "--quiet", tmp_path / "sums"]
    assert subprocess.run(command, cwd=tree, check=False).returncode == 0
    again = plant(
        tmp_path / "again", dict(reversed((FILES | {"odd\n\\na\rme": "x", "#x": "", "- -> -": "y"}).items()))
    )
    (again / "link").symlink_to("csrc/ops.cpp")
    assert list_tree(again).sha256 == listing.sha256


def _mode(tree):
    (tree / "setup.py").chmod(0o755)


def _link(tree):
    (tree / "setup.py").rename(tree / "other")
    (tree / "setup.py").symlink_to("other")


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "setup.py").write_text("x"),
        lambda tree: (tree / "setup.py").rename(tree / "setup2.py"),
        lambda tree: (tree / "new").touch(),
        lambda tree: (tree / "setup.py").unlink(),
        _mode,
        _link,
    ],
    ids=["bytes", "name", "new", "gone", "executable", "link"],
)
def test_every_change_changes_the_hash(tmp_path, change):
    tree = plant(tmp_path)
    before = list_tree(tree).sha256
    os.utime(tree / "setup.py", (0, 0))
    assert list_tree(tree).sha256 == before
    change(tree)
    assert list_tree(tree).sha256 != before


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "vllm_ascend/../../outside", "loop"])
def test_links_that_lead_out_are_refused(tmp_path, target):
    tree = plant(tmp_path / "tree")
    (tree / "good").symlink_to("vllm_ascend/../setup.py")
    (tree / "folder").symlink_to("vllm_ascend")
    assert list_tree(tree).links == {"good": "vllm_ascend/../setup.py", "folder": "vllm_ascend"}
    if target == "loop":
        (tree / "loop").symlink_to("loop2")
        (tree / "loop2").symlink_to("loop")
    else:
        (tree / "loop").symlink_to(target)
    with pytest.raises(UsageError, match=r"a link to .* outside of the tree; put a file in its place"):
        list_tree(tree)


def test_links_that_lead_out_by_another_link_are_refused(tmp_path):
    tree = plant(tmp_path / "tree")
    (tree / "vllm_ascend" / "up").symlink_to("..")
    assert list_tree(tree).links == {"vllm_ascend/up": ".."}
    (tree / "out").symlink_to("vllm_ascend/up/../x")
    with pytest.raises(UsageError, match="out: a link to vllm_ascend/up"):
        list_tree(tree)


def test_pipes_and_sockets_are_refused(tmp_path):
    tree = plant(tmp_path)
    assert list_tree(tree).files
    os.mkfifo(tree / "pipe")
    with pytest.raises(UsageError, match="pipe: a device, pipe or socket"):
        list_tree(tree)
    (tree / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tree / "socket"))
        with pytest.raises(UsageError, match="socket: a device, pipe or socket"):
            list_tree(tree)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"# a comment\n", "expected b'# executable: ' or b'# link: '"),
        (b"# executable: x\n", "Expecting value"),
        (b'# executable: "a", "b"\n', "expected 1 strings"),
        (b'# link: ["a"]\n', "expected 2 strings"),
        (b'# link: "ab"\n', "expected 2 strings"),
        (b"# link: " + b"[" * 100_000 + b"\n", "recursion"),
        (b"# executable: 1\n", "expected 1 strings"),
        (b"0" * 63 + b"  a\n", "expected 64 hex digits"),
        (b"0" * 64 + b" *a\n", "not in the order or the form"),
    ],
)
def test_what_is_never_written_is_refused(line, says):
    good = b"0" * 64 + b'  b\n# executable: "b"\n# link: ["c", "b"]\n'
    assert parse_listing(good, "x").links == {"c": "b"}
    with pytest.raises(UsageError) as error:
        parse_listing(good + line, "x")
    assert says in str(error.value)
