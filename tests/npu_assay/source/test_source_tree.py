"""The tree of a run: kept under its hash, whole or not at all, with a version that says which it is."""

import json
import zipfile

import pytest
from planted_source import FILES, METADATA, SDIST, WHEEL, checkout, files_below, git, plant, sdist, wheel

from npu_assay.errors import UnusableError, UsageError
from npu_assay.source.archived import ArchivedSource, read_listing, read_record, write_source
from npu_assay.source.listing import list_tree
from npu_assay.source.location import parse_location
from npu_assay.source.native import compiled_parts, differences, native_parts
from npu_assay.source.patches import read_patches
from npu_assay.source.record import SourceRecord
from npu_assay.source.tree import SourceTree, Wanted, find_tree, make_tree

PATCH = """\
--- a/vllm_ascend/handler.py
+++ b/vllm_ascend/handler.py
@@ -1,3 +1,4 @@
+# a line more
 line 1
 line 2
 line 3
"""


def make(tmp_path, source, patches=(), **options) -> SourceTree:
    wanted = Wanted(parse_location(str(source)), read_patches(list(patches)), **options)
    return make_tree(wanted, "0.17.9", tmp_path / "cache", lambda line: None)


@pytest.fixture
def patch(tmp_path):
    path = tmp_path / "a patch!.patch"
    path.write_text(PATCH)
    return path


def test_the_same_files_are_the_same_tree_wherever_they_come_from(tmp_path):
    folder = checkout(tmp_path / "folder")
    trees = [
        make(tmp_path, folder),
        make(tmp_path, f"git+file://{folder}@main"),
        make(tmp_path, plant(tmp_path / "plain")),
    ]
    assert {tree.record.tree_sha256 for tree in trees} == {list_tree(tmp_path / "plain").sha256}
    assert len({tree.root for tree in trees}) == 1
    tree = trees[0]
    assert tree.root.name == tree.record.tree_sha256[:16]
    assert files_below(tree.files) == FILES
    assert tree.listing().sha256 == tree.record.tree_sha256
    assert json.loads((tree.root / "complete.json").read_text())["sha256"] == tree.record.tree_sha256


def test_patches_are_on_record_and_in_the_tree(tmp_path, patch):
    folder = checkout(tmp_path / "folder")
    plain, patched = make(tmp_path, folder), make(tmp_path, folder, [patch])
    assert plain.record.tree_sha256 != patched.record.tree_sha256
    assert (patched.files / "vllm_ascend/handler.py").read_text().startswith("# a line more\n")
    (record,) = patched.record.patches
    assert (record.name, record.file) == ("a patch!.patch", "0001-a_patch_.patch")
    assert (plain.record.patches, plain.record.dirty, patched.record.dirty) == ((), False, False)
    assert files_below(folder) == FILES


@pytest.mark.parametrize(
    ("kind", "version", "read_from"),
    [
        ("tag", "0.18.0", "tag v0.18.0"),
        ("odd tag", "0.17.9", "the lock, as the tree has no tag and no PKG-INFO"),
        ("no git", "0.17.9", "the lock, as the tree has no tag and no PKG-INFO"),
        ("sdist", "0.18.0", "PKG-INFO"),
    ],
)
def test_the_version_says_which_tree_and_where_it_is_from(tmp_path, kind, version, read_from):
    match kind:
        case "tag":
            source = checkout(tmp_path / "tree")
        case "odd tag":
            source = checkout(tmp_path / "tree", tag="v1-of-mine")
        case "no git":
            source = plant(tmp_path / "tree")
        case _:
            source = sdist(tmp_path / SDIST)
    record = make(tmp_path, source).record
    assert record.version == f"{version}+tree.{record.tree_sha256[:12]}"
    assert record.version_from == read_from


def test_the_locks_own_has_the_locks_version(tmp_path):
    record = make(tmp_path, sdist(tmp_path / SDIST), locks="vllm-ascend 0.17.9 of x").record
    assert (record.kind, record.given, record.version) == ("lock", "vllm-ascend 0.17.9 of x", "0.17.9")
    assert record.is_locks


def test_a_wheel_keeps_its_version_and_takes_no_patch(tmp_path, patch):
    path = wheel(tmp_path / WHEEL)
    tree = make(tmp_path, path)
    assert tree.is_wheel
    assert (tree.record.version, tree.record.version_from) == ("0.18.0", "the wheel")
    assert not make(tmp_path, sdist(tmp_path / SDIST)).is_wheel
    with pytest.raises(
        UsageError, match=r"--patch .*: vllm_ascend-0\.18\.0-py3-none-any\.whl is a wheel, so built"
    ):
        make(tmp_path, path, [patch])


@pytest.mark.parametrize("missing", ["setup.py", "vllm_ascend/__init__.py"])
def test_what_is_no_vllm_ascend_is_refused_and_leaves_nothing(tmp_path, missing):
    assert make(tmp_path, plant(tmp_path / "good"))
    bad = plant(tmp_path / "bad", {name: text for name, text in FILES.items() if name != missing})
    with pytest.raises(UsageError, match=f"no {missing} in it, so no vllm-ascend"):
        make(tmp_path, bad)
    assert len([path for path in (tmp_path / "cache/trees").iterdir() if path.is_dir()]) == 1


def test_a_package_that_is_a_link_is_refused(tmp_path):
    folder = plant(tmp_path / "tree")
    assert make(tmp_path, folder)
    (folder / "vllm_ascend").rename(folder / "package")
    (folder / "vllm_ascend").symlink_to("package")
    with pytest.raises(UsageError, match="vllm_ascend is a link, expected a folder"):
        make(tmp_path, folder)


def test_a_patch_that_takes_the_package_away_is_refused(tmp_path):
    folder = plant(tmp_path / "tree", FILES | {"vllm_ascend/__init__.py": "x = 1\n"})
    path = tmp_path / "delete.patch"
    for name, says in (
        ("handler.py", ""),
        ("__init__.py", "with its patches: no vllm_ascend/__init__.py in it"),
    ):
        lines = (folder / "vllm_ascend" / name).read_text().splitlines(keepends=True)
        path.write_text(
            f"--- a/vllm_ascend/{name}\n+++ /dev/null\n@@ -1,{len(lines)} +0,0 @@\n"
            + "".join(f"-{line}" for line in lines)
        )
        if not says:
            assert make(tmp_path, folder, [path])
            continue
        with pytest.raises(UsageError, match=says):
            make(tmp_path, folder, [path])


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({}, r"0 \*\.dist-info/METADATA with a version, expected one"),
        ({"a": METADATA, "b": METADATA}, r"2 \*\.dist-info/METADATA with a version, expected one"),
        (
            {"a": METADATA.replace("vllm-ascend", "other")},
            "its METADATA is that of other, expected vllm-ascend",
        ),
        ({"a": METADATA.replace("Name", "Nom")}, "its METADATA is that of no name"),
    ],
)
def test_a_wheel_that_is_not_of_vllm_ascend_is_refused(tmp_path, metadata, says):
    path = wheel(tmp_path / WHEEL)
    assert make(tmp_path, path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vllm_ascend/__init__.py", "")
        for name, text in metadata.items():
            archive.writestr(f"{name}-1.dist-info/METADATA", text)
    with pytest.raises(UsageError, match=says):
        make(tmp_path, path)


def test_a_patch_that_fails_leaves_nothing(tmp_path, patch):
    folder = plant(tmp_path / "tree")
    assert make(tmp_path, folder, [patch])
    with pytest.raises(UsageError, match=r"--patch .*: is in this tree already; leave it out"):
        make(tmp_path, folder, [patch, patch])
    assert len([path for path in (tmp_path / "cache/trees").iterdir() if path.is_dir()]) == 1


def test_a_cache_that_can_not_be_written_is_exit_4(tmp_path):
    assert make(tmp_path, plant(tmp_path / "tree"))
    with pytest.raises(UnusableError, match="can't write the cache: /proc/none"):
        make_tree(
            Wanted(parse_location(str(tmp_path / "tree"))), "1", tmp_path.__class__("/proc/none"), print
        )


def test_what_is_archived_is_read_back_and_names_its_tree(tmp_path, patch):
    tree, patches = make(tmp_path, checkout(tmp_path / "tree"), [patch]), read_patches([patch])
    where = ArchivedSource(tmp_path / "source")
    write_source(where, tree, patches, native_parts(tree.listing()))
    assert read_record(where) == tree.record
    assert read_listing(where.listing) == tree.listing()
    assert set(read_listing(where.base).files) == {
        "setup.py",
        "CMakeLists.txt",
        "csrc/ops.cpp",
        "csrc/build.sh",
    }
    assert (where.patches / "0001-a_patch_.patch").read_bytes() == patch.read_bytes()
    assert find_tree(read_record(where), tmp_path / "cache") == tree
    with pytest.raises(UnusableError, match="the tree is not in the cache"):
        find_tree(tree.record, tmp_path / "other")
    where.record.write_text(where.record.read_text().replace('"kind"', '"kinds"'))
    with pytest.raises(UsageError, match=r"source\.json: kind: Field required"):
        read_record(where)


def test_a_tree_that_was_changed_in_the_cache_is_refused(tmp_path):
    tree = make(tmp_path, plant(tmp_path / "tree"))
    assert tree.listing()
    assert make(tmp_path, tmp_path / "tree") == tree
    (tree.files / "vllm_ascend/handler.py").write_text("changed\n")
    with pytest.raises(UnusableError, match=r"tree: changed since it was written; remove .* and try again"):
        make(tmp_path, tmp_path / "tree")
    with (tree.root / "files.sha256").open("a") as listing:
        listing.write("0" * 64 + "  zzz\n")
    with pytest.raises(UsageError, match="changed since it was written"):
        tree.listing()


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, []),
        ({"vllm_ascend/handler.py": "x", "tests/ut/new.py": ""}, []),
        ({"csrc/ops.cpp": "x"}, ["csrc/ops.cpp"]),
        ({"setup.py": "x", "CMakeLists.txt": "x"}, ["CMakeLists.txt", "setup.py"]),
        ({"cmake/new.cmake": "x"}, ["cmake/new.cmake"]),
        ({"csrc/third_party/catlass/a.h": "x"}, []),
        ({"csrc2/a.cpp": "x", "vllm_ascend/csrc/a.cpp": "x"}, []),
    ],
)
def test_native_parts(tmp_path, changes, names):
    base = native_parts(list_tree(plant(tmp_path / "base")))
    ours = native_parts(list_tree(plant(tmp_path / "ours", FILES | changes)))
    assert differences(ours, base) == names
    assert differences(base, ours) == names


def test_compiled_parts_of_a_wheel(tmp_path):
    files = {
        "vllm_ascend/a.py": "",
        "vllm_ascend/vllm_ascend_C.cpython-311-x86_64-linux-gnu.so": "",
        "vllm_ascend/_cann_ops_custom/.gitkeep": "",
        "vllm_ascend/_cann_ops_custom/vendors/impl.py": "",
        "other/x.so": "",
    }
    assert sorted(compiled_parts(list_tree(plant(tmp_path, files))).files) == [
        "vllm_ascend/_cann_ops_custom/vendors/impl.py",
        "vllm_ascend/vllm_ascend_C.cpython-311-x86_64-linux-gnu.so",
    ]


def test_names_that_are_no_text_are_written_as_some(tmp_path):
    folder = plant(tmp_path / "tree \udcff", FILES | {"odd \udcff.py": "x"})
    patch = tmp_path / "odd \udcff.patch"
    patch.write_text(PATCH)
    record = make(tmp_path, folder, [patch]).record
    assert record.given == f"{tmp_path}/tree \\udcff"
    assert record.patches[0].name == "odd \\udcff.patch"
    assert SourceRecord.model_validate_json(record.model_dump_json()) == record


def test_a_record_has_no_key_that_nobody_knows(tmp_path):
    folder = checkout(tmp_path / "tree")
    record = make(tmp_path, folder).record
    assert record.commit == git(folder, "rev-parse", "HEAD")
    text = record.model_dump_json()
    assert SourceRecord.model_validate_json(text) == record
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        SourceRecord.model_validate_json(text.replace('"kind"', '"other":1,"kind"'))
