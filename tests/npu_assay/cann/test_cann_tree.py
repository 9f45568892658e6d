"""CANN says which build it is."""

from pathlib import Path

import pytest

from npu_assay.cann.tree import CannTree
from npu_assay.errors import UnusableError

INFO = "package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=EMULATED\n"


@pytest.fixture
def tree(tmp_path: Path) -> CannTree:
    tree = CannTree.laid_out(tmp_path)
    tree.install_info.parent.mkdir(parents=True)
    tree.install_info.write_text(INFO)
    return tree


def test_a_tree_without_the_file_is_an_error(tree: CannTree) -> None:
    assert tree.innerversion() == "EMULATED"
    tree.install_info.unlink()
    with pytest.raises(UnusableError, match=r"\.info: not there, so this CANN can't be told"):
        tree.innerversion()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"\.info: empty; expected lines key=value"),
        (INFO.replace("innerversion=EMULATED\n", ""), r"\.info: no innerversion"),
        (INFO.replace("EMULATED", ""), r"\.info:3: innerversion has no value"),
        (INFO + "innerversion=B2\n", r"\.info:4: innerversion stands twice, first in line 3"),
    ],
)
def test_a_file_that_does_not_say_is_an_error(tree: CannTree, text: str, says: str) -> None:
    assert tree.innerversion() == "EMULATED"
    tree.install_info.write_text(text)
    with pytest.raises(UnusableError, match=says):
        tree.innerversion()
