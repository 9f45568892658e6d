"""Cache folders: keyed by content, whole or made again, one maker at a time."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from npu_assay.cache import (
    cache_root,
    content_key,
    folder_lock,
    is_complete,
    make_folder,
    tree_digest,
    writing,
)
from npu_assay.errors import UnusableError


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"NPU_ASSAY_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/npu-assay"),
        ({"NPU_ASSAY_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/npu-assay"),
    ],
)
def test_the_cache_is_where_the_variables_say(variables: dict[str, str], expected: str) -> None:
    assert cache_root(variables) == Path(expected)


def test_a_relative_cache_is_made_absolute() -> None:
    assert cache_root({"NPU_ASSAY_CACHE": "c"}) == Path.cwd() / "c"


def test_a_key_tells_contents_and_their_borders_apart() -> None:
    assert content_key(["ab", "c"]) == content_key(["ab", "c"])
    assert len({content_key(["ab", "c"]), content_key(["a", "bc"]), content_key(["c", "ab"])}) == 3


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.txt").write_text("b")
    return root


def test_what_a_build_leaves_behind_does_not_change_the_digest(tree: Path) -> None:
    before = tree_digest(tree)
    for left in ("__pycache__/a.pyc", "build/x", "p.egg-info/PKG-INFO", "sub/a.pyc"):
        (tree / left).parent.mkdir(parents=True, exist_ok=True)
        (tree / left).write_text("left behind")
    assert tree_digest(tree) == before


@pytest.mark.parametrize("change", ["bytes", "name", "mode", "new file"])
def test_every_change_of_content_changes_the_digest(tree: Path, change: str) -> None:
    before = tree_digest(tree)
    match change:
        case "bytes":
            (tree / "a.txt").write_text("A")
        case "name":
            (tree / "a.txt").rename(tree / "c.txt")
        case "mode":
            (tree / "a.txt").chmod(0o755)
        case "new file":
            (tree / "sub" / "c.txt").touch()
    assert tree_digest(tree) != before


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> dict[str, object]:
        made.append(folder)
        return {"fact": 1}

    assert make_folder(tmp_path / "f", make)
    assert not make_folder(tmp_path / "f", make)
    assert made == [tmp_path / "f"]
    assert json.loads((tmp_path / "f" / "complete.json").read_text()) == {"fact": 1}


def test_a_half_made_folder_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "f"

    def fail(folder: Path) -> dict[str, object]:
        (folder / "half").touch()
        raise UnusableError("no")

    with pytest.raises(UnusableError, match="no"):
        make_folder(folder, fail)
    assert (folder / "half").exists(), "the logs of a failure stay until the next attempt"
    assert not is_complete(folder)
    assert make_folder(folder, lambda _: {})
    assert is_complete(folder)
    assert not (folder / "half").exists()


def _make_slowly(folder: Path, count: Path) -> None:
    def make(folder: Path) -> dict[str, object]:
        with count.open("a") as file:
            file.write("made\n")
        time.sleep(0.2)
        return {}

    make_folder(folder, make)


def test_what_a_crash_of_the_machine_leaves_is_made_again_and_no_json_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    assert make_folder(folder, lambda new: {"a": 1})
    assert not make_folder(folder, lambda new: {"a": 2})
    (folder / "complete.json").write_text("")
    assert make_folder(folder, lambda new: {"a": 3})
    (folder / "complete.json").write_text("{")
    with pytest.raises(UnusableError, match=r"complete\.json: no JSON .*; remove .*folder and try again"):
        make_folder(folder, lambda new: {"a": 4})


def test_of_two_that_make_a_folder_at_once_one_does(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    makers = [spawn.Process(target=_make_slowly, args=(tmp_path / "f", tmp_path / "count")) for _ in range(3)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert [maker.exitcode for maker in makers] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "made\n"


def test_who_waits_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    with folder_lock(tmp_path / "f", lambda: told.append("first")):
        holder = os.fork()
        if holder == 0:
            # The child waits for us, says so through a file, and ends.
            with folder_lock(tmp_path / "f", (tmp_path / "told").touch):
                os._exit(0)
        while not (tmp_path / "told").exists():
            time.sleep(0.01)
    assert os.waitpid(holder, 0)[1] == 0
    assert told == [], "the first one waits for nobody"


def test_a_cache_where_no_folder_can_be_is_one_line(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "cache" / "folder"):
        pass
    with pytest.raises(UnusableError, match=r"NPU_ASSAY_CACHE$"), folder_lock(Path("/proc/cache/folder")):
        pass


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")]
)
def test_a_cache_that_cant_be_written_is_one_line(error: OSError) -> None:
    with writing(Path("/cache")):
        pass
    with (
        pytest.raises(UnusableError, match=r"^can't write the cache: /cache: .*NPU_ASSAY_CACHE$") as raised,
        writing(Path("/cache")),
    ):
        raise error
    assert str(error.strerror) in str(raised.value)


def test_other_errors_are_not_blamed_on_the_cache() -> None:
    with pytest.raises(FileNotFoundError), writing(Path("/cache")):
        raise FileNotFoundError(2, "No such file or directory")
