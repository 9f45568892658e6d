"""CANN says which build it is."""

from pathlib import Path

import pytest

from npu_assay.cann.tree import CannTree, innerversion
from npu_assay.errors import UnusableError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=EMULATED\n", "EMULATED"),
        ("innerversion = V100R001C25SPC001B216 \r\n", "V100R001C25SPC001B216"),
    ],
)
def test_the_innerversion_is_read(text: str, expected: str) -> None:
    assert innerversion(text, "x.info") == expected


@pytest.mark.parametrize("text", ["", "version=9.0.0\n", "innerversion=\n", "# innerversion\n"])
def test_a_file_without_it_is_an_error(text: str) -> None:
    with pytest.raises(UnusableError, match=r"x\.info: no line innerversion"):
        innerversion(text, "x.info")


def test_a_tree_without_the_file_is_an_error(tmp_path: Path) -> None:
    tree = CannTree(tmp_path)
    tree.install_info.parent.mkdir(parents=True)
    tree.install_info.write_text("innerversion=EMULATED\n")
    assert tree.innerversion() == "EMULATED"
    tree.install_info.unlink()
    with pytest.raises(
        UnusableError, match=r"ascend_toolkit_install\.info: can't read CANN's version: No such file"
    ):
        tree.innerversion()
